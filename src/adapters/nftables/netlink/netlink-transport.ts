import type { NftTransport } from '../transport.js';
export class NetlinkNftTransport {
  static async open(): Promise<NftTransport> {
    throw new Error('not there yet');
  }
}
