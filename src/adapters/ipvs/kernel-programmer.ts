import type { ApplyResult } from '../../application/ports/backend.js';
import type { Logger } from '../../application/ports/logger.js';
import type { IpvsDesiredState } from '../../domain/ipvs/desired-state.js';
import type { SetMember } from '../../domain/ipvs/service-port-rules.js';
import { SERVICE_SETS, type ServiceSet } from '../../domain/ipvs/service-sets.js';
import { IpvsChange } from '../../domain/ipvs/ipvs-change.js';
import { Unexplained } from '../../domain/ipvs/unexplained.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { AddressTable } from './tables/address-table.js';
import type { ServerTable } from './tables/server-table.js';
import { ServiceFailures } from './service-failures.js';
import type { SetTable } from './tables/set-table.js';

/** Its members are kept from everybody that no other set lets in, so they come last and go first. */
const GATE: ServiceSet = 'KUBE-LOAD-BALANCER-FW';

/** Writes the rules that suit these sets having members. `rest` also takes away what nobody needs any more. */
export type WriteRules = (
  filled: ReadonlySet<ServiceSet>,
  part: 'additions' | 'rest',
) => Promise<Pick<ApplyResult, 'written' | 'failed'>>;

export interface ProgramOptions {
  /** Virtual servers and addresses come before the rules: other rules serve until ours take their place. */
  readonly rulesLast?: boolean;
}

/**
 * Brings the kernel to a composition, where it was touched: members and rules that a service needs come before its
 * virtual servers, and those before its addresses; what goes, goes the other way round. Additions come before removals,
 * so that what moves from one service to another is never missing. What is refused is blamed on the service ports that
 * asked for it; they do not get new virtual servers before they have their members and rules. What could not be removed
 * is tried again the next time. What nothing explains is kept where that is asked for.
 */
export class KernelProgrammer {
  private leftover = new IpvsChange();
  private unexplained = new Unexplained();

  constructor(
    private readonly family: IpFamily,
    private readonly servers: ServerTable,
    private readonly sets: SetTable,
    private readonly addresses: AddressTable,
    private readonly logger: Logger,
  ) {}

  /** Something could not be removed, and waits for the next time. */
  get hasLeftover(): boolean {
    return !this.leftover.isEmpty;
  }

  /** Reads the kernel, and makes the device and the sets where they are missing; gives the number of sets made. */
  async read(signal?: AbortSignal): Promise<number> {
    await this.servers.read(signal);
    await this.addresses.read();
    await this.sets.read(signal);
    signal?.throwIfAborted();
    return this.sets.create();
  }

  /** From now on keeps what was read and the composition does not explain; or nothing of that any more. */
  keepUnexplained(composition: IpvsDesiredState, keep: boolean): void {
    const { servers, addresses, sets } = this;
    const members = (set: ServiceSet) => sets.members(set);
    this.unexplained = keep
      ? new Unexplained(composition, { servers: servers.keys(), addresses: addresses.all(), members })
      : new Unexplained();
  }

  /** Everything that is wanted or in the kernel. */
  everything(composition: IpvsDesiredState): IpvsChange {
    const all = new IpvsChange();
    for (const key of [...composition.allServers().keys(), ...this.servers.keys()]) all.servers.add(key);
    for (const address of [...composition.addresses(), ...this.addresses.all()]) all.addresses.add(address);
    for (const set of SERVICE_SETS)
      for (const member of [...composition.membersOf(set), ...this.sets.members(set)])
        all.member(set, member);
    return all;
  }

  async program(
    composition: IpvsDesiredState,
    touched: IpvsChange,
    writeRules: WriteRules,
    { rulesLast = false }: ProgramOptions = {},
  ): Promise<Pick<ApplyResult, 'written' | 'failed'>> {
    touched.add(this.leftover);
    this.leftover = new IpvsChange();
    const { unexplained, servers, sets, addresses } = this;
    unexplained.explain(composition, touched);
    const pass = new Pass(composition, touched, unexplained, servers, sets, addresses);
    const rules = async (part: 'additions' | 'rest') => {
      const filled = new Set([
        ...composition.filled,
        ...(part === 'additions' ? sets.filled : unexplained.sets),
      ]);
      const { written, failed } = await writeRules(filled, part);
      pass.written += written;
      for (const { key, reason } of failed) pass.failures.blame([key], reason);
    };
    await pass.addMembers((set) => set !== GATE);
    if (!rulesLast) await rules('additions');
    await pass.addMembers((set) => set === GATE);
    await pass.makeServers();
    await pass.addAddresses();
    if (rulesLast) await rules('additions');
    await pass.removeAddresses();
    await pass.removeServers();
    await pass.deleteMembers();
    await rules('rest');
    this.leftover = pass.leftover;
    for (const reason of pass.notRemoved)
      this.logger.warn({ family: this.family, reason }, 'could not be removed; will try again');
    return { written: pass.written, failed: pass.failures.list() };
  }
}

/** One passage through what was touched. */
class Pass {
  written = 0;
  readonly failures = new ServiceFailures();
  readonly leftover = new IpvsChange();
  /** Why. */
  readonly notRemoved: string[] = [];

  constructor(
    private readonly composition: IpvsDesiredState,
    private readonly touched: IpvsChange,
    private readonly unexplained: Unexplained,
    private readonly servers: ServerTable,
    private readonly sets: SetTable,
    private readonly addresses: AddressTable,
  ) {}

  async addMembers(among: (set: ServiceSet) => boolean): Promise<void> {
    const wanted = this.members().filter(
      (member) =>
        among(member.set) &&
        this.composition.referencesToMember(member).some((key) => !this.failures.has(key)),
    );
    const { written, refused } = await this.sets.add(wanted);
    this.written += written;
    for (const { what, reason } of refused)
      this.failures.blame(this.composition.referencesToMember(what), reason);
  }

  async makeServers(): Promise<void> {
    const wanted = [...this.touched.servers].flatMap((key) => {
      const server = this.composition.server(key);
      return server && (this.servers.has(key) || !this.failures.has(server.owner))
        ? [[key, server] as const]
        : [];
    });
    const { written, refused } = await this.servers.make(new Map(wanted));
    this.written += written;
    for (const { what, reason } of refused)
      this.failures.blame([this.composition.server(what)!.owner], reason);
  }

  async addAddresses(): Promise<void> {
    const askers = (address: string) => this.composition.referencesToAddress(address);
    const wanted = [...this.touched.addresses].filter((address) =>
      askers(address).some((key) => !this.failures.has(key)),
    );
    const { written, refused } = await this.addresses.add(wanted);
    this.written += written;
    for (const { what, reason } of refused) this.failures.blame(askers(what), reason);
  }

  async removeAddresses(): Promise<void> {
    const surplus = [...this.touched.addresses].filter(
      (address) =>
        this.composition.referencesToAddress(address).length === 0 && !this.unexplained.hasAddress(address),
    );
    const { written, refused } = await this.addresses.remove(surplus);
    this.written += written;
    for (const { what, reason } of refused) {
      this.leftover.addresses.add(what);
      this.notRemoved.push(reason);
    }
  }

  async removeServers(): Promise<void> {
    const surplus = [...this.touched.servers].filter(
      (key) => !this.composition.server(key) && !this.unexplained.hasServer(key),
    );
    const { written, refused } = await this.servers.remove(surplus);
    this.written += written;
    for (const { what, reason } of refused) {
      this.leftover.servers.add(what);
      this.notRemoved.push(reason);
    }
  }

  async deleteMembers(): Promise<void> {
    const surplus = this.members()
      .filter(
        (member) =>
          this.composition.referencesToMember(member).length === 0 && !this.unexplained.hasMember(member),
      )
      .reverse();
    const { written, refused } = await this.sets.delete(surplus);
    this.written += written;
    for (const { what, reason } of refused) {
      this.leftover.member(what.set, what.member);
      this.notRemoved.push(reason);
    }
  }

  /** In the order of sets, in which members are added. */
  private members(): readonly SetMember[] {
    return SERVICE_SETS.flatMap((set) =>
      [...(this.touched.members.get(set) ?? [])].map((member) => ({ set, member })),
    );
  }
}
