import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const kubeproxy = fileURLToPath(new URL('../../bin/kubeproxy', import.meta.url));
const folder = fileURLToPath(new URL('.', import.meta.url));

function run(command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd: folder, encoding: 'utf8' });
  if (error) throw error;
  return { status, output: stdout, complaint: stderr };
}

function ip(...args) {
  const { status, complaint } = run('ip', args);
  if (status !== 0) throw new Error(`ip ${args.join(' ')}: ${complaint}`);
}

/** A node in a network namespace of its own; commands run in this folder, with its manifests and configuration. */
export class Node {
  #name = `kubeproxy-casts-${process.pid}`;
  #proxy;

  /** Has something done on a node that is there as long as it takes. */
  static async with(work) {
    const node = new Node();
    try {
      node.#make();
      await work(node);
    } finally {
      await node.#remove();
    }
  }

  /** Starts the proxy, and waits until it serves. */
  async serve(...args) {
    this.#proxy = spawn('ip', ['netns', 'exec', this.#name, kubeproxy, ...args], {
      cwd: folder,
      stdio: 'ignore',
    });
    for (let tries = 0; this.run(['status']).status !== 0; tries++) {
      if (tries === 100) throw new Error('the proxy does not serve');
      await sleep(100);
    }
  }

  /** Runs kubeproxy with these words; its output is that on a terminal. */
  run(words) {
    return run('ip', ['netns', 'exec', this.#name, kubeproxy, ...words, '--color', 'always']);
  }

  #make() {
    ip('netns', 'add', this.#name);
    this.#ip('link', 'set', 'lo', 'up');
    this.#device('eth0', '198.51.100.17/24');
    this.#device('cni0', '10.244.1.1/24');
    this.#ip('route', 'add', 'default', 'via', '198.51.100.1');
    for (const setting of ['net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1'])
      ip('netns', 'exec', this.#name, 'sysctl', '-qw', setting);
  }

  #device(name, address) {
    this.#ip('link', 'add', name, 'type', 'veth', 'peer', 'name', `${name}-peer`);
    this.#ip('address', 'add', address, 'dev', name);
    // Addresses that the kernel makes up would be others each time.
    for (const end of [name, `${name}-peer`]) this.#ip('link', 'set', end, 'addrgenmode', 'none', 'up');
  }

  async #remove() {
    if (this.#proxy?.kill()) await once(this.#proxy, 'exit');
    ip('netns', 'delete', this.#name);
  }

  #ip(...args) {
    ip('netns', 'exec', this.#name, 'ip', ...args);
  }
}
