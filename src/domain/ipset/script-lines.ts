import type { IpSet, IpSetHeader } from './ip-set.js';

/** The line of `ipset restore` that makes a set, with the sizes that kube-proxy gives (docs/spec/ipvs.md §5). */
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
