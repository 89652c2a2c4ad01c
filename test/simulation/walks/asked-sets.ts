import type { IpSet, IpSetType } from '../../../src/domain/ipvs/ip-set.js';
import type { IpSets } from '../kernel/programs/sets/ip-sets.js';
import type { Inquiry } from './inquiry.js';

/** IP sets that ask whenever one is looked for. Nothing else of the map is there. */
export class AskedSets extends Map<string, IpSet> {
  constructor(
    private readonly sets: IpSets,
    private readonly inquiry: Inquiry,
  ) {
    super();
  }

  override get(name: string): IpSet | undefined {
    const found = this.inquiry.ask(this.sets, () => this.sets.get(name));
    if (!found) return undefined;
    const { type, family } = found;
    const members = new AskedMembers(found.members, this.sets, this.inquiry);
    return { name, type: type as IpSetType, family: family === 'any' ? 'IPv4' : family, members };
  }
}

/** Members that ask about one, or about all of them. */
class AskedMembers extends Set<string> {
  constructor(
    private readonly members: ReadonlySet<string>,
    private readonly sets: IpSets,
    private readonly inquiry: Inquiry,
  ) {
    super();
  }

  override has(member: string): boolean {
    return this.inquiry.ask(this.sets, () => this.members.has(member));
  }

  override [Symbol.iterator](): SetIterator<string> {
    this.inquiry.ask(this.sets, () => [...this.members].join('\n'));
    return this.members[Symbol.iterator]() as SetIterator<string>;
  }
}
