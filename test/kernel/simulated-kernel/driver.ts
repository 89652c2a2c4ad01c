import { NetlinkSocket } from '../../../src/adapters/netlink/netlink-socket.js';
import { serve } from '../../support/program/driver.js';
import { Conversation } from './conversation.js';

/** Passes messages to the kernel of the namespace it runs in. */

const conversation = new Conversation((protocol, options) => NetlinkSocket.open(protocol, options));

const handlers = {
  ask: (protocol: number, request: string) => conversation.ask(protocol, request),
  hear: (protocol: number, groups: number) => conversation.hear(protocol, groups),
  heard: (protocol: number) => conversation.heard(protocol),
};
export type KernelDriver = typeof handlers;

void serve(handlers, () => conversation.close());
