import type { IpFamily } from '../../../../../src/domain/net/ip-family.js';

/** A set of the kernel, without its name: that may change. */
export interface IpSetContents {
  readonly type: string;
  readonly family: IpFamily | 'any';
  /** As `ipset save` prints it behind the type. */
  readonly options: string;
  /** What the kernel adds to them. */
  readonly added: string;
  readonly maxelem: number;
  /** As `ipset save` prints them, in the order in which they were added. */
  readonly members: Set<string>;
}

/** The IP sets of one network namespace. */
export class IpSets {
  /** Another one as soon as any set is another one, or has other members. */
  version = 0;
  /** By their numbers: a new one takes the first that is free, and they are listed in this order. */
  private readonly slots: (string | undefined)[] = [];
  private readonly sets = new Map<string, IpSetContents>();

  /**
   * @param isUsed whether a rule looks into a set of this name
   * @param changed told the name of a set that is not what it was
   */
  constructor(
    private readonly isUsed: (name: string) => boolean,
    private readonly changed: (name: string) => void = () => undefined,
  ) {}

  get names(): readonly string[] {
    return this.slots.filter((name) => name !== undefined);
  }

  get(name: string): IpSetContents | undefined {
    return this.sets.get(name);
  }

  /** @returns why not, in the words of the tool */
  create(name: string, set: IpSetContents, mayExist: boolean): string | undefined {
    const former = this.sets.get(name);
    if (former) {
      const isSame = former.type === set.type && former.maxelem === set.maxelem && hasSameRange(former, set);
      return mayExist && isSame ? undefined : 'Set cannot be created: set with the same name already exists';
    }
    this.sets.set(name, set);
    const free = this.slots.indexOf(undefined);
    this.slots[free < 0 ? this.slots.length : free] = name;
    this.done(name);
    return undefined;
  }

  add(name: string, member: string, mayExist: boolean): string | undefined {
    const set = this.sets.get(name);
    if (!set) return NO_SET;
    if (set.members.has(member))
      return mayExist ? undefined : "Element cannot be added to the set: it's already added";
    if (set.members.size >= set.maxelem) return 'Hash is full, cannot add more elements';
    set.members.add(member);
    this.done(name);
    return undefined;
  }

  remove(name: string, member: string, mayBeMissing: boolean): string | undefined {
    const set = this.sets.get(name);
    if (!set) return NO_SET;
    if (!set.members.delete(member))
      return mayBeMissing ? undefined : "Element cannot be deleted from the set: it's not added";
    this.done(name);
    return undefined;
  }

  flush(name: string): string | undefined {
    const set = this.sets.get(name);
    if (!set) return NO_SET;
    if (set.members.size > 0) this.done(name);
    set.members.clear();
    this.version++;
    return undefined;
  }

  destroy(name: string, mayBeMissing: boolean): string | undefined {
    if (!this.sets.has(name)) return mayBeMissing ? undefined : NO_SET;
    if (this.isUsed(name)) return IN_USE;
    this.sets.delete(name);
    this.slots[this.slots.indexOf(name)] = undefined;
    this.done(name);
    return undefined;
  }

  /** All of them, or none. */
  destroyAll(): string | undefined {
    if (this.names.some((name) => this.isUsed(name))) return IN_USE;
    for (const name of this.names) this.destroy(name, false);
    return undefined;
  }

  private done(name: string): void {
    this.version++;
    this.changed(name);
  }
}

/** All that the kernel compares besides type and size: not the family, nor how many buckets there are at first. */
function hasSameRange(one: IpSetContents, other: IpSetContents): boolean {
  return one.family !== 'any' || one.options === other.options;
}

const NO_SET = 'The set with the given name does not exist';
const IN_USE = 'Set cannot be destroyed: it is in use by a kernel component';
