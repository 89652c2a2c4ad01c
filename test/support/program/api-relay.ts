import { execa, type ResultPromise } from 'execa';
import { readFile, writeFile } from 'node:fs/promises';

/** Passes connections on, as a load balancer before the API server does. */
const RELAY = `
const { connect, createServer } = require('node:net');
const [address, port, to] = process.argv.slice(1);
createServer((client) => {
  const server = connect(Number(to), '127.0.0.1');
  for (const [one, other] of [[client, server], [server, client]])
    one.on('error', () => other.destroy()).on('close', () => other.destroy()).pipe(other);
}).listen(Number(port), address);
`;

/** A load balancer before an API server on loopback, in the same network namespace. */
export class ApiRelay {
  private constructor(private readonly relay: ResultPromise) {}

  /** @param kubeconfig leads to the API server, and to the relay from now on */
  static async start(
    namespace: string,
    kubeconfig: string,
    { address, port }: { readonly address: string; readonly port: number },
  ): Promise<ApiRelay> {
    const config = JSON.parse(await readFile(kubeconfig, 'utf8')) as {
      clusters: [{ cluster: Record<string, unknown> }];
    };
    const { cluster } = config.clusters[0];
    const to = new URL(String(cluster.server)).port;
    cluster.server = `https://${address}:${port}`;
    delete cluster['certificate-authority'];
    cluster['insecure-skip-tls-verify'] = true;
    await writeFile(kubeconfig, JSON.stringify(config));
    const words = ['netns', 'exec', namespace, process.execPath, '-e', RELAY];
    return new ApiRelay(execa('ip', [...words, address, String(port), to], { reject: false }));
  }

  async stop(): Promise<void> {
    this.relay.kill('SIGKILL');
    await this.relay;
  }
}
