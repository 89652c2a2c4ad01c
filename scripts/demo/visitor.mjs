import { createInterface } from 'node:readline';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('client.mjs', import.meta.url));

/** Controls `client.mjs`, which runs in the client's namespace. One round at a time. */
export class Visitor {
  #child;
  #lines;

  constructor(network) {
    this.#child = network.start(network.client, process.execPath, program);
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
    this.#child.stderr.pipe(process.stderr);
    this.#child.stdin.on('error', () => {}); // the end of its output shows that the client died
  }

  /** The count of each response, for each target: `[{ 'backend-1': 13, refused: 2 }, …]`. */
  async ask(targets, requests, timeout = 1000) {
    this.#child.stdin.write(
      `${JSON.stringify({ requests, timeout, targets: targets.map(({ address }) => address) })}\n`,
    );
    const { value, done } = await this.#lines.next();
    if (done) throw new Error('the client exited unexpectedly');
    return JSON.parse(value);
  }

  async leave() {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, 'exit');
    this.#child.stdin.end();
    await exit;
  }
}
