import { parseSave } from '../../../support/iptables/parse-save.js';
import { IP_FAMILIES, type IpFamily } from '../../../../src/domain/net/ip-family.js';
import { comparableTables } from '../../../support/recorded/comparable-tables.js';
import type { Step } from '../../../support/recorded/scenarios.js';
import { HINT_CHAIN } from '../../../support/testbed/iptables-node.js';
import { linesOf } from './tool.js';

/** Stands between what two tools print. */
const NEXT = '--next--';

/** Where commands run: a host of the test bed, or the guest itself. */
export interface Shell {
  run(command: readonly string[], input: string): Promise<string>;
}

/**
 * Takes off the node whatever a run in mode ipvs may have left. What stays is the chain by which a kubelet shows that its
 * node uses iptables-legacy, as it must in a guest.
 */
const EMPTY = `
  for tool in iptables-legacy-restore ip6tables-legacy-restore; do
    $tool -w 5 <<END
*mangle
:${HINT_CHAIN} - [0:0]
COMMIT
*nat
COMMIT
*filter
COMMIT
END
  done
  ipset destroy
  ipvsadm -C
  ip link delete kube-ipvs0 2>/dev/null || true
  conntrack -F 2>/dev/null || true
`;

/** Makes it a node on which nothing ran yet. */
export async function emptyNode(host: Shell): Promise<void> {
  await host.run(['sh', '-e'], EMPTY);
}

/** What the tools print of the kernel of a node. */
export interface Listings {
  readonly rules: Readonly<Record<IpFamily, string>>;
  /** `ipvsadm -S -n` */
  readonly servers: string;
  /** `ipset save` */
  readonly sets: string;
  /** `ip -br addr show kube-ipvs0` */
  readonly device: string;
}

/** Asks all tools at once: to start a program from the tests themselves takes long in a guest. */
export async function listNode(host: Shell): Promise<Listings> {
  const script = [
    ...['iptables-legacy-save', 'ip6tables-legacy-save', 'ipvsadm -S -n', 'ipset save'],
    'ip -br addr show kube-ipvs0 2>/dev/null || true',
  ].join(' && echo "${next}" && ');
  const printed = await host.run(['sh', '-e', '-c', `next='${NEXT}'; ${script}`], '');
  const [ipv4, ipv6, servers, sets, device] = printed.split(new RegExp(`^${NEXT}$\\n?`, 'm'));
  return { rules: { IPv4: ipv4!, IPv6: ipv6! }, servers: servers!, sets: sets!, device: device! };
}

/** What was recorded of kube-proxy's node. */
export function recordedListings({ tables }: Step): Listings {
  const [ipv4, ipv6, servers, sets, device] = tables as [string, string, string, string, string];
  return { rules: { IPv4: ipv4, IPv6: ipv6 }, servers, sets, device };
}

/** What of the listings means something. Real servers that only drain depend on which packets came before. */
export function comparable({ rules, servers, sets, device }: Listings): object {
  const tables = IP_FAMILIES.map((family) => {
    const { [`mangle ${HINT_CHAIN}`]: _, ...rest } = comparableTables(parseSave(rules[family], family));
    return rest;
  });
  return {
    tables,
    servers: linesOf(servers).filter((line) => !line.endsWith(' -w 0')),
    // The kernel draws these by lot.
    sets: linesOf(sets.replace(/ bucketsize \d+ initval \w+/g, '')),
    device: device.trim().split(/\s+/).sort(),
  };
}

/**
 * Leaves on a node what kube-proxy left on it in mode ipvs, and nothing else, except real servers that only drained: here they
 * have no connections.
 */
export async function leaveRecorded(host: Shell, step: Step): Promise<void> {
  const { rules, servers, sets, device } = recordedListings(step);
  const bound = device.split(/\s+/).filter((word) => word.includes('/'));
  await host.run(
    ['sh', '-e'],
    `
      ${EMPTY}
      for name in conntrack expire_nodest_conn expire_quiescent_template; do
        echo 1 >/proc/sys/net/ipv4/vs/$name
      done
      ip link add kube-ipvs0 type dummy
      ip -batch - <<END
${bound.map((address) => `addr add ${address} dev kube-ipvs0`).join('\n')}
END
      ipset restore <<END
${sets}
END
      iptables-legacy-restore -w 5 <<END
${rules.IPv4}
END
      ip6tables-legacy-restore -w 5 <<END
${rules.IPv6}
END
      ipvsadm -R <<END
${servers.replace(/^.* -w 0$/gm, '')}
END
    `,
  );
}
