import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { fileURLToPath } from 'node:url';

const insideProgram = fileURLToPath(new URL('inside.mjs', import.meta.url));
/** Where the proxy serves its page. */
const PAGE_PORT = '10249';

/** Makes the page of the demo's proxy, which it serves inside the demo's node, reachable from this machine. */
export class Page {
  #folder = mkdtempSync(join(tmpdir(), 'kubeproxy-demo-'));
  #server;
  #inside;

  /** Returns its address. */
  async open(network) {
    const socket = join(this.#folder, 'page');
    this.#inside = network.start(network.node, process.execPath, insideProgram, socket, PAGE_PORT);
    await Promise.race([
      once(this.#inside.stdout, 'data'),
      once(this.#inside, 'exit').then(() => Promise.reject(new Error('the page cannot be reached'))),
    ]);
    this.#server = createServer((browser) => {
      const node = connect(socket);
      // A browser may leave at any time.
      pipeline(browser, node, browser, () => {});
    });
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${this.#server.address().port}/`;
  }

  close() {
    this.#server?.close();
    this.#inside?.kill('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
