import type { Host } from './host.js';

/**
 * The host's servers at port 8080 neither hear nor say anything from now on, as if their node had died. Clients in the same host
 * still reach others.
 */
export async function fallSilent(host: Host): Promise<void> {
  const chains = [
    'chain in { type filter hook prerouting priority -300; tcp dport 8080 drop; meta l4proto sctp drop; };',
    'chain out { type filter hook output priority -300; tcp sport 8080 drop; };',
  ];
  await host.run(['nft', '-f', '-'], `table inet dead { ${chains.join('\n')} }`);
}

/** Undoes `fallSilent`. */
export async function wake(host: Host): Promise<void> {
  await host.run(['nft', 'flush', 'ruleset']);
}

/** The pod is cut off, as by a node that dies, until it is joined again. */
export async function cutOff(pod: Host): Promise<void> {
  await pod.run(['ip', 'link', 'set', 'eth0', 'down']);
}

/** Undoes `cutOff`, for IPv4. */
export async function rejoin(pod: Host): Promise<void> {
  await pod.run(['ip', 'link', 'set', 'eth0', 'up']);
  // The link took its routes with it.
  await pod.run(['ip', 'route', 'add', '10.244.1.1', 'dev', 'eth0']);
  await pod.run(['ip', 'route', 'add', 'default', 'via', '10.244.1.1', 'dev', 'eth0']);
}
