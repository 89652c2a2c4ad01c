import type { ServiceFailure } from '../../application/ports/backend.js';
import type { NodeNetwork } from '../../domain/forwarding/node-network.js';
import type { IpvsDesiredState } from '../../domain/ipvs/desired-state.js';
import { IpvsChange } from '../../domain/ipvs/ipvs-change.js';
import type { SetMember } from '../../domain/ipvs/service-port-rules.js';
import { SERVICE_SETS, type ServiceSet } from '../../domain/ipvs/service-sets.js';
import type { Unexplained } from '../../domain/ipvs/unexplained.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import { IpvsTemporaryError } from './errors.js';
import type { IpvsRules } from './ipvs-rules.js';
import type { KernelTables } from './tables/kernel-tables.js';
import type { Outcome } from './tables/planned-steps.js';

/** Its members are closed to every source that no other set lets in, so they are added last and deleted first. */
const GATE: ServiceSet = 'KUBE-LOAD-BALANCER-FW';

export interface OrderedWriteOptions {
  readonly desired: IpvsDesiredState;
  readonly node: NodeNetwork;
  /** Where to compare the kernel with the desired state. */
  readonly change: IpvsChange;
  /** What stays although nothing asks for it. */
  readonly unexplained: Unexplained;
  /** Virtual servers and addresses come before the rules: other rules serve until these replace them. */
  readonly rulesLast: boolean;
}

/**
 * One write of a change, in this order: members, rules, virtual servers, addresses; then removals in the reverse order. So an
 * address takes connections only when everything behind it is there, and what moves from one service port to another is never
 * missing. A refusal is blamed on the service ports that refer to what was refused. They get no new virtual servers before they
 * have their members and rules.
 */
export class OrderedWrite {
  /** Steps. */
  written = 0;
  /** What could not be removed. */
  readonly leftovers = new IpvsChange();
  /** Why it could not be removed. */
  readonly leftoverReasons = new Set<string>();
  private readonly reasons = new Map<ServicePortKey, string>();
  private temporary: string | undefined;

  constructor(
    private readonly tables: KernelTables,
    private readonly rules: IpvsRules,
    private readonly options: OrderedWriteOptions,
  ) {}

  /** Service ports of which a part was refused, each with the first reason. */
  get failed(): readonly ServiceFailure[] {
    return Array.from(this.reasons, ([key, reason]) => ({ key, reason }));
  }

  /** @throws IpvsTemporaryError when all was tried, if something was refused that is nobody's fault */
  async run(): Promise<void> {
    const { rulesLast } = this.options;
    await this.addMembers((set) => set !== GATE);
    if (!rulesLast) await this.addRules();
    await this.addMembers((set) => set === GATE);
    await this.makeServers();
    await this.addAddresses();
    if (rulesLast) await this.addRules();
    await this.removeAddresses();
    await this.removeServers();
    await this.deleteMembers();
    await this.removeRules();
    if (this.temporary !== undefined) throw new IpvsTemporaryError(this.temporary);
  }

  private async addMembers(among: (set: ServiceSet) => boolean): Promise<void> {
    const references = (member: SetMember) => this.options.desired.referencesToMember(member);
    const wanted = this.members().filter((member) => among(member.set) && this.mayAdd(references(member)));
    this.note(await this.tables.sets.add(wanted), references);
  }

  /** Sets that still have members keep their rules. */
  private addRules(): Promise<void> {
    return this.writeRules(true, [...this.options.desired.filled, ...this.tables.sets.filled]);
  }

  private async makeServers(): Promise<void> {
    const { desired, change } = this.options;
    const { servers } = this.tables;
    const wanted = [...change.servers].flatMap((key) => {
      const server = desired.server(key);
      return server && (servers.has(key) || this.mayAdd([server.owner])) ? [[key, server] as const] : [];
    });
    this.note(await servers.make(new Map(wanted)), (key) => [desired.server(key)!.owner]);
  }

  private async addAddresses(): Promise<void> {
    const { desired, change } = this.options;
    const references = (address: string) => desired.referencesToAddress(address);
    const wanted = [...change.addresses].filter((address) => this.mayAdd(references(address)));
    this.note(await this.tables.addresses.add(wanted), references);
  }

  private async removeAddresses(): Promise<void> {
    const { desired, change, unexplained } = this.options;
    const surplus = [...change.addresses].filter(
      (address) => desired.referencesToAddress(address).length === 0 && !unexplained.hasAddress(address),
    );
    this.noteRemoval(await this.tables.addresses.remove(surplus), (address) =>
      this.leftovers.addresses.add(address),
    );
  }

  private async removeServers(): Promise<void> {
    const { desired, change, unexplained } = this.options;
    const surplus = [...change.servers].filter((key) => !desired.server(key) && !unexplained.hasServer(key));
    this.noteRemoval(await this.tables.servers.remove(surplus), (key) => this.leftovers.servers.add(key));
  }

  private async deleteMembers(): Promise<void> {
    const { desired, unexplained } = this.options;
    const surplus = this.members()
      .filter((member) => desired.referencesToMember(member).length === 0 && !unexplained.hasMember(member))
      .reverse();
    this.noteRemoval(await this.tables.sets.delete(surplus), ({ set, member }) =>
      this.leftovers.member(set, member),
    );
  }

  /** Also those for sets that have become empty. */
  private removeRules(): Promise<void> {
    const { desired, unexplained } = this.options;
    return this.writeRules(false, [...desired.filled, ...unexplained.sets]);
  }

  /** @param ofPresent about the service ports that there are, or about those that are gone */
  private async writeRules(ofPresent: boolean, filled: readonly ServiceSet[]): Promise<void> {
    const { desired, change, node } = this.options;
    const changes = [...change.rules]
      .map((key) => ({ key, entry: desired.rules(key)?.entry }))
      .filter(({ entry }) => (entry !== undefined) === ofPresent);
    const { written, failed } = await this.rules.write(changes, node, new Set(filled));
    this.written += written;
    for (const { key, reason } of failed) {
      if (desired.rules(key)) this.blame([key], reason);
      else {
        this.leftovers.rules.add(key);
        this.leftoverReasons.add(reason);
      }
    }
  }

  /** In the order in which sets are filled. */
  private members(): readonly SetMember[] {
    const { members } = this.options.change;
    return SERVICE_SETS.flatMap((set) => Array.from(members.get(set) ?? [], (member) => ({ set, member })));
  }

  /** Whether a service port among them has got everything so far. */
  private mayAdd(references: readonly ServicePortKey[]): boolean {
    return references.some((key) => !this.reasons.has(key));
  }

  private note<T>(
    { written, refused }: Outcome<T>,
    references: (what: T) => readonly ServicePortKey[],
  ): void {
    this.written += written;
    for (const { what, reason, isTemporary } of refused) {
      if (isTemporary) this.temporary ??= reason;
      this.blame(references(what), reason);
    }
  }

  private noteRemoval<T>({ written, refused }: Outcome<T>, keep: (what: T) => void): void {
    this.written += written;
    for (const { what, reason } of refused) {
      keep(what);
      this.leftoverReasons.add(reason);
    }
  }

  private blame(keys: readonly ServicePortKey[], reason: string): void {
    for (const key of keys) if (!this.reasons.has(key)) this.reasons.set(key, reason);
  }
}
