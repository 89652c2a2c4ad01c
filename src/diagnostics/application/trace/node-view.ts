import type { Passage } from '../../../application/node/forwarding-obstacles.js';

/** An address that the node sends from. */
export interface OwnAddress {
  readonly text: string;
  /** Not known, as the routes of the node are not. */
  readonly isAssumed: boolean;
}

/** The node as packets meet it: its addresses, its interfaces and its routes. */
export interface NodeView {
  readonly localAddresses: ReadonlySet<string>;
  /** What is assumed instead of known, for people. Undefined if nothing is. */
  readonly assumption: string | undefined;
  /** The interface through which packets of that source come in. */
  arrival(source: string): Promise<string>;
  /** The address that the node puts on packets to a destination. Undefined: it has no route there. */
  ownAddressTowards(destination: string): Promise<OwnAddress | undefined>;
  /** Why the node itself does not pass packets on, or replies to them, for people; undefined if it does, as far as is known. */
  obstacle(passage: NodePassage): Promise<string | undefined>;
}

/** Packets that come in through a device and go on to an address. */
export type NodePassage = Omit<Passage, 'route'> & { readonly to: string };
