import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../bin/kubeproxy', import.meta.url));
const TIMEOUT_MS = 5000;

/** Where, among the examples, the broken Services are. */
export function broken(examples) {
  return join(examples, 'broken');
}

/** The proxy of the demo, inside the demo's node. */
export class Proxy {
  #network;
  #child;

  constructor(network) {
    this.#network = network;
  }

  /** The command as a user would type it. */
  static command(examples) {
    return [
      'kubeproxy',
      ...['--proxy-mode', 'nftables', '--manifests', examples],
      ...(existsSync(broken(examples)) ? ['--manifests', broken(examples)] : []),
      ...['--hostname-override', 'demo-node', '--cluster-cidr', '10.244.0.0/16'],
    ];
  }

  /** `onLine` gets each line of its log, `onExit` the reason if it exits unexpectedly. */
  start(examples, onLine, onExit) {
    const [, ...args] = Proxy.command(examples);
    const child = this.#network.start(this.#network.node, process.execPath, program, ...args);
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', onLine);
    child.on('error', (error) => onExit(error.message));
    child.on('close', (status, signal) => {
      if (this.#child === child) onExit(signal ?? `exit status ${status}`);
    });
  }

  /** Stops it; its rules stay. */
  async stop() {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    const ended = await Promise.race([exit.then(() => true), delay(TIMEOUT_MS, false, { ref: false })]);
    if (ended) return;
    child.kill('SIGKILL');
    await exit;
  }

  /** Removes its rules with `--cleanup`. Throws when it fails or when the table is still there. */
  cleanup() {
    this.#network.run(this.#network.node, process.execPath, program, '--cleanup');
    const tables = this.#network.run(this.#network.node, 'nft', 'list', 'tables');
    if (tables.includes('kube-proxy'))
      throw new Error(`kubeproxy --cleanup left tables behind: ${tables.trim()}`);
  }
}
