import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';

export const NODE_ADDRESS = '192.0.2.10';
export const CLIENT_ADDRESS = '192.0.2.20';
export const BACKEND_ADDRESSES = ['10.244.1.11', '10.244.1.12', '10.244.1.13'];

/**
 * The demo's machines: a node, a client outside, and three backends on the node's pod network, each a network namespace.
 * Each pod is connected to the node by a veth with a host route, so no bridge module is needed.
 */
export class Network {
  constructor(prefix) {
    this.node = `${prefix}-node`;
    this.client = `${prefix}-client`;
    this.backends = BACKEND_ADDRESSES.map((_, index) => `${prefix}-backend-${index + 1}`);
    this.namespaces = [this.node, this.client, ...this.backends];
  }

  create() {
    for (const namespace of this.namespaces) {
      ip('netns', 'add', namespace);
      ip('-n', namespace, 'link', 'set', 'lo', 'up');
    }
    ip(
      '-n',
      this.node,
      'link',
      'add',
      'outside',
      'type',
      'veth',
      'peer',
      'name',
      'eth0',
      'netns',
      this.client,
    );
    ip('-n', this.node, 'address', 'add', `${NODE_ADDRESS}/24`, 'dev', 'outside');
    ip('-n', this.node, 'link', 'set', 'outside', 'up');
    // As on any real node, packets to a cluster IP have a route, so the proxy's rules decide what happens to them.
    ip('-n', this.node, 'route', 'add', 'default', 'via', CLIENT_ADDRESS);
    ip('-n', this.client, 'address', 'add', `${CLIENT_ADDRESS}/24`, 'dev', 'eth0');
    ip('-n', this.client, 'link', 'set', 'eth0', 'up');
    ip('-n', this.client, 'route', 'add', 'default', 'via', NODE_ADDRESS);
    this.backends.forEach((backend, index) =>
      this.#attach(backend, `pod${index + 1}`, BACKEND_ADDRESSES[index]),
    );
    this.run(this.node, 'sysctl', '-qw', 'net.ipv4.ip_forward=1', 'net.ipv4.icmp_ratelimit=0');
    // A refused connection is an ICMP message. The kernel limits their rate; a round of the demo needs more of them at the same time.
    this.run(
      this.node,
      'sysctl',
      '-eqw',
      'net.ipv4.icmp_msgs_per_sec=10000',
      'net.ipv4.icmp_msgs_burst=1000',
    );
  }

  #attach(backend, link, address) {
    ip('-n', this.node, 'link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', backend);
    ip('-n', this.node, 'address', 'add', '10.244.1.1/32', 'dev', link);
    ip('-n', this.node, 'link', 'set', link, 'up');
    ip('-n', this.node, 'route', 'add', address, 'dev', link);
    ip('-n', backend, 'address', 'add', `${address}/32`, 'dev', 'eth0');
    ip('-n', backend, 'link', 'set', 'eth0', 'up');
    ip('-n', backend, 'route', 'add', '10.244.1.1', 'dev', 'eth0');
    ip('-n', backend, 'route', 'add', 'default', 'via', '10.244.1.1');
  }

  /** Ends every process in the existing namespaces and removes them. Returns whether there were any. */
  remove() {
    const present = this.namespaces.filter((namespace) => existsSync(`/run/netns/${namespace}`));
    for (const namespace of present) {
      for (const pid of ip('netns', 'pids', namespace).split('\n').filter(Boolean)) kill(Number(pid));
      ip('netns', 'delete', namespace);
    }
    return present.length > 0;
  }

  /** Runs a command inside a namespace to its end and returns what it printed. */
  run(namespace, ...command) {
    return execFileSync('ip', ['netns', 'exec', namespace, ...command], options(10_000));
  }

  /**
   * Starts a program inside a namespace. It has its own session, so that Ctrl-C reaches only the demo, which then stops
   * everything in the right order.
   */
  start(namespace, ...command) {
    return spawn('ip', ['netns', 'exec', namespace, ...command], {
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  }
}

function ip(...args) {
  return execFileSync('ip', args, options(10_000));
}

function options(timeout) {
  return { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout };
}

function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (error.code !== 'ESRCH') throw error; // it has exited meanwhile
  }
}
