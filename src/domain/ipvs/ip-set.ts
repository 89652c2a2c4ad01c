import type { IpFamily } from '../net/ip-family.js';

/** The types of sets that the rules of IPVS mode match against (docs/internals/spec/ipvs.md §5). */
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

/** The line of `ipset restore` that makes a set, with the sizes that kube-proxy gives (docs/internals/spec/ipvs.md §5). */
export function createLine({ name, type, family }: IpSetHeader): string {
  return type === 'bitmap:port'
    ? `create ${name} ${type} range 0-65535`
    : `create ${name} ${type} family ${family === 'IPv4' ? 'inet' : 'inet6'} hashsize 1024 maxelem 65536`;
}

export function addLine(set: string, member: string): string {
  return `add ${set} ${member}`;
}

/** A set as `ipset save` prints it, without the options that the kernel adds. */
export function setLines(set: IpSet): readonly string[] {
  return [createLine(set), ...[...set.members].map((member) => addLine(set.name, member))];
}
