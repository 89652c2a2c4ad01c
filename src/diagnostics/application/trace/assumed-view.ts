import type { ForwardingEntry } from '../../../domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../domain/forwarding/node-network.js';
import type { AssumedNode } from '../../domain/trace/assumed-node.js';
import { isLoopback, parseAddress } from '../../../domain/net/address.js';
import type { NodeView, OwnAddress } from './node-view.js';

/** The node is another machine, of which only its objects are known. */
export class AssumedView implements NodeView {
  readonly assumption =
    'this machine is not the node, so its addresses, interfaces and routes are assumed from its Node object';
  private localEndpoints: ReadonlySet<string> | undefined;

  constructor(
    private readonly node: AssumedNode,
    private readonly network: NodeNetwork,
    private readonly entries: () => Iterable<ForwardingEntry>,
  ) {}

  get localAddresses(): ReadonlySet<string> {
    return this.node.localAddresses;
  }

  arrival(source: string): Promise<string> {
    this.localEndpoints ??= new Set(
      [...this.entries()].flatMap((entry) => entry.localEndpoints.map(({ address }) => address)),
    );
    const isLocalEndpoint = this.localEndpoints.has(source);
    return Promise.resolve(this.node.arrival(source, isLocalEndpoint, this.network.detector));
  }

  obstacle(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  ownAddressTowards(destination: string): Promise<OwnAddress | undefined> {
    const text = this.node.ownAddressTowards(destination);
    const isAssumed = !isLoopback(parseAddress(destination)!);
    return Promise.resolve(text === undefined ? undefined : { text, isAssumed });
  }
}
