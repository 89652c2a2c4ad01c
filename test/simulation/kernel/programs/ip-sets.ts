import { parseAddress } from '../../../../src/domain/net/address.js';
import { maskAddress } from '../../../../src/domain/net/cidr.js';
import type { IpFamily } from '../../../../src/domain/net/ip-family.js';

/** A set of the kernel, without its name. */
export interface IpSet {
  readonly type: string;
  readonly family: IpFamily | 'any';
  /** As `ipset save` prints it behind the type. */
  readonly options: string;
  readonly maxelem: number;
  /** As `ipset save` prints them, in the order in which they were added. */
  readonly members: Set<string>;
}

const NO_SET = 'The set with the given name does not exist';
const IN_USE = 'Set cannot be destroyed: it is in use by a kernel component';

/** The IP sets of one network namespace. Changes return why they are rejected, in the words of the tool. */
export class IpSets {
  /** Another one as soon as any set is another one, or has other members. */
  version = 0;
  /** By their numbers: a new one takes the first that is free, and they are listed in this order. */
  private readonly slots: (string | undefined)[] = [];
  private readonly sets = new Map<string, IpSet>();

  /**
   * @param isUsed whether a rule looks into a set of this name
   * @param changed told the name of a set that has changed
   */
  constructor(
    private readonly isUsed: (name: string) => boolean,
    private readonly changed: (name: string) => void = () => undefined,
  ) {}

  get names(): readonly string[] {
    return this.slots.filter((name) => name !== undefined);
  }

  get(name: string): IpSet | undefined {
    return this.sets.get(name);
  }

  create(name: string, set: IpSet, mayExist: boolean): string | undefined {
    const present = this.sets.get(name);
    if (present) {
      // The kernel compares neither the family nor how many buckets there are at first.
      const isSame =
        present.type === set.type &&
        present.maxelem === set.maxelem &&
        (present.family !== 'any' || present.options === set.options);
      return mayExist && isSame ? undefined : 'Set cannot be created: set with the same name already exists';
    }
    this.sets.set(name, set);
    const free = this.slots.indexOf(undefined);
    this.slots[free < 0 ? this.slots.length : free] = name;
    return this.done(name);
  }

  add(name: string, member: string, mayExist: boolean): string | undefined {
    const set = this.sets.get(name);
    if (!set) return NO_SET;
    if (set.members.has(member))
      return mayExist ? undefined : "Element cannot be added to the set: it's already added";
    if (set.members.size >= set.maxelem) return 'Hash is full, cannot add more elements';
    set.members.add(member);
    return this.done(name);
  }

  remove(name: string, member: string, mayBeMissing: boolean): string | undefined {
    const set = this.sets.get(name);
    if (!set) return NO_SET;
    if (set.members.delete(member)) return this.done(name);
    return mayBeMissing ? undefined : "Element cannot be deleted from the set: it's not added";
  }

  flush(name: string): string | undefined {
    const set = this.sets.get(name);
    if (!set) return NO_SET;
    if (set.members.size === 0) return undefined;
    set.members.clear();
    return this.done(name);
  }

  destroy(name: string, mayBeMissing: boolean): string | undefined {
    if (!this.sets.has(name)) return mayBeMissing ? undefined : NO_SET;
    if (this.isUsed(name)) return IN_USE;
    this.sets.delete(name);
    this.slots[this.slots.indexOf(name)] = undefined;
    return this.done(name);
  }

  /** All of them, or none. */
  destroyAll(): string | undefined {
    if (this.names.some((name) => this.isUsed(name))) return IN_USE;
    for (const name of this.names) this.destroy(name, false);
    return undefined;
  }

  private done(name: string): undefined {
    this.version++;
    this.changed(name);
  }
}

/** The tool cannot read a set or a member. What it prints depends on the readers that it tried, and is not simulated. */
export class SetSyntaxError extends Error {
  override readonly name = 'SetSyntaxError';

  constructor(text: string) {
    super(`Syntax error: cannot parse ${text}`);
  }
}

const PROTOCOLS: Readonly<Record<string, string>> = { '6': 'tcp', '17': 'udp', '132': 'sctp' };
/** The parts of a member of a type. */
const TYPES: Readonly<Record<string, readonly ('ip' | 'port' | 'net' | 'number')[]>> = {
  'hash:ip': ['ip'],
  'hash:ip,port': ['ip', 'port'],
  'hash:ip,port,ip': ['ip', 'port', 'ip'],
  'hash:ip,port,net': ['ip', 'port', 'net'],
  'bitmap:port': ['number'],
};

function address(text: string, family: IpFamily | 'any'): string {
  // inet_aton(3)
  const isNumber = family === 'IPv4' && /^\d{1,9}$/.test(text);
  const quads = isNumber ? [24, 16, 8, 0].map((bits) => (Number(text) >>> bits) & 255).join('.') : text;
  const read = parseAddress(quads);
  if (read?.family !== family) throw new SetSyntaxError(text);
  return read.text;
}

function portNumber(text: string): string {
  if (!/^\d+$/.test(text) || Number(text) > 65535) throw new SetSyntaxError(text);
  return String(Number(text));
}

const PARTS = {
  ip: address,
  net(text: string, family: IpFamily | 'any'): string {
    const bits = family === 'IPv6' ? 128 : 32;
    const [host = '', length = String(bits)] = text.split('/');
    if (!/^\d+$/.test(length) || Number(length) > bits) throw new SetSyntaxError(text);
    const plain = address(host, family);
    return Number(length) === bits ? plain : `${maskAddress(plain, Number(length))}/${length}`;
  },
  port(text: string): string {
    const [first = '', second] = text.split(':');
    const protocol = second === undefined ? 'tcp' : (PROTOCOLS[first] ?? first);
    if (!Object.values(PROTOCOLS).includes(protocol)) throw new SetSyntaxError(text);
    return `${protocol}:${portNumber(second ?? first)}`;
  },
  number: portNumber,
} as const;

/** A member of a set as `ipset save` prints it. @throws SetSyntaxError */
export function memberText(text: string, { type, family }: IpSet): string {
  const parts = text.split(',');
  const kinds = TYPES[type]!;
  // More than three parts are too many for the tool to notice.
  if (parts.length < kinds.length || (kinds.length < 3 && parts.length > kinds.length))
    throw new SetSyntaxError(text);
  return kinds.map((kind, index) => PARTS[kind](parts[index]!, family)).join(',');
}

/** A set as its type and options describe it, without members. @throws SetSyntaxError */
export function newSet(type: string, words: readonly string[]): IpSet {
  if (!TYPES[type]) throw new SetSyntaxError(type);
  const given = new Map<string, string>();
  for (let at = 0; at < words.length; at += 2) given.set(words[at]!, words[at + 1] ?? '');
  const members = new Set<string>();
  if (type === 'bitmap:port')
    return { type, family: 'any', options: `range ${given.get('range')}`, maxelem: Infinity, members };
  const [family, hashsize, maxelem] = ['family', 'hashsize', 'maxelem'].map((name) => given.get(name));
  // The kernel takes an initial value by chance.
  const options = `family ${family ?? 'inet'} hashsize ${hashsize ?? '1024'} maxelem ${maxelem ?? '65536'} bucketsize 12 initval 0x00000000`;
  return {
    type,
    family: family === 'inet6' ? 'IPv6' : 'IPv4',
    options,
    maxelem: Number(maxelem ?? 65536),
    members,
  };
}
