import type { IpFamily } from '../net/ip-family.js';

/** The types of sets that the rules of mode ipvs match against (docs/spec/ipvs.md §5). */
export type IpSetType = 'hash:ip' | 'hash:ip,port' | 'hash:ip,port,ip' | 'hash:ip,port,net' | 'bitmap:port';

/** A set without its members. */
export interface IpSetHeader {
  readonly name: string;
  readonly type: IpSetType;
  /** The family of its addresses. In the kernel a bitmap of ports has none; here it has that of the rules that use it. */
  readonly family: IpFamily;
}

/** A set and its members, each as `ipset save` prints it. */
export interface IpSet extends IpSetHeader {
  readonly members: ReadonlySet<string>;
}
