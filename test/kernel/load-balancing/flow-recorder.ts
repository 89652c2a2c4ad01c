import { fileURLToPath } from 'node:url';
import type { Testbed } from '../../support/testbed/testbed.js';

const SENDER = fileURLToPath(new URL('./send-flows.mjs', import.meta.url));
/** The kernel remembers no more connections at a time than it has room for. */
const AT_A_TIME = 20_000;
const ENDPOINT_PORT = 8080;

/** Where flows come from: all these ports of all these addresses. */
export interface Sources {
  readonly addresses: readonly string[];
  readonly firstPort: number;
  /** Of each address. */
  readonly ports: number;
}

/** `address:port` of clients, and the address of the endpoint that each came to. */
export type Choices = ReadonlyMap<string, string>;

/** A table beside the proxy's, which notes whom each forwarded datagram is from and for. Endpoints need not exist. */
const RECORDER = `
table ip recorder {
  set flows { typeof ip saddr . udp sport . ip daddr; flags dynamic; size 65535; }
  chain forward {
    type filter hook forward priority 10
    udp dport ${ENDPOINT_PORT} add @flows { ip saddr . udp sport . ip daddr }
  }
}`;

/** What a node makes of UDP flows from outside. */
export class FlowRecorder {
  private constructor(private readonly testbed: Testbed) {}

  static async install(testbed: Testbed): Promise<FlowRecorder> {
    await testbed.node.run(['nft', '-f', '-'], RECORDER);
    return new FlowRecorder(testbed);
  }

  /** Sends a datagram of each flow, all of them new to the node. Those that come to no endpoint are not in the answer. */
  async choices(
    destination: string,
    port: number,
    { addresses, firstPort, ports }: Sources,
  ): Promise<Choices> {
    const choices = new Map<string, string>();
    const ofEach = Math.floor(AT_A_TIME / addresses.length);
    for (let at = 0; at < ports; at += ofEach) {
      const count = Math.min(ofEach, ports - at);
      await this.testbed.node.run(['nft', 'flush', 'set', 'ip', 'recorder', 'flows']);
      await this.testbed.node.run(['conntrack', '-F']);
      const numbers = [port, firstPort + at, count].map(String);
      await this.testbed.ext.run([process.execPath, SENDER, destination, ...numbers, ...addresses]);
      for (const [client, endpoint] of await this.recorded()) choices.set(client, endpoint);
    }
    return choices;
  }

  private async recorded(): Promise<readonly (readonly [string, string])[]> {
    const listing = await this.testbed.node.run(['nft', '-j', 'list', 'set', 'ip', 'recorder', 'flows']);
    const { nftables } = JSON.parse(listing) as { nftables: readonly { set?: ListedSet }[] };
    const elements = nftables.flatMap(({ set }) => set?.elem ?? []);
    return elements.map((element) => {
      const [source, sourcePort, endpoint] = 'elem' in element ? element.elem.val.concat : element.concat;
      return [`${source}:${sourcePort}`, endpoint];
    });
  }
}

type Flow = readonly [source: string, port: number, endpoint: string];

interface ListedSet {
  readonly elem?: readonly (
    | { readonly concat: Flow }
    | { readonly elem: { readonly val: { readonly concat: Flow } } }
  )[];
}
