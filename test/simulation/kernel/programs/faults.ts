import type { Refusal } from './tables/kernel-check.js';
import type { Variant } from './tables/table-set.js';

/** How a program fails that would not. */
export interface ProgramFault {
  /** Of which programs: part of the command line. Undefined: of all. */
  readonly of?: string;
  readonly exitCode: number;
  readonly stderr: string;
  /** Before it has done anything, or when it has done everything. */
  readonly when: 'before' | 'after';
  times: number;
}

/** How a program that does what it should may trouble its parent. */
export interface Trouble {
  readonly of?: string;
  /** It is killed in the middle: after so many of its pauses. */
  readonly killedAfter?: number;
  /** It takes so many milliseconds longer, before it does anything. */
  readonly hangs?: number;
  /** It is killed when it has printed so many letters. */
  readonly killedAtOutput?: number;
  times: number;
}

/** What goes wrong with the programs of a machine, in the order in which it was asked for. */
export class Faults {
  /** Programs that are not installed. */
  readonly missing = new Set<string>();
  /** Variants of which the kernel has nothing. */
  readonly unsupported = new Set<Variant>();
  /** Matches and targets whose modules the kernel lacks. */
  readonly missingExtensions = new Set<string>();
  /** Rules that the kernel rejects. */
  readonly refusals: Refusal[] = [];
  /** Lines of ipset that the kernel rejects. */
  readonly setRefusals: Refusal[] = [];
  private readonly failures: ProgramFault[] = [];
  private readonly troubles: Trouble[] = [];

  /**
   * The kernel rejects rules with this text, for so many rules.
   * @param reason as `strerror` has it
   */
  refuseRules(containing: string, times = Infinity, reason = 'Invalid argument'): void {
    this.refusals.push({ containing, reason, times });
  }

  /** The kernel rejects lines of ipset with this text. @param reason in the words of the tool */
  refuseSetLines(
    containing: string,
    times = Infinity,
    reason = 'Kernel error received: set type not supported',
  ): void {
    this.setRefusals.push({ containing, reason, times });
  }

  fail(fault: ProgramFault): void {
    this.failures.push(fault);
  }

  trouble(trouble: Trouble): void {
    this.troubles.push(trouble);
  }

  /** Whether nothing goes wrong any more. */
  get areOver(): boolean {
    const lists = [this.refusals, this.setRefusals, this.failures, this.troubles];
    const isMissing = this.missing.size + this.unsupported.size + this.missingExtensions.size > 0;
    return !isMissing && lists.every((list) => list.every(({ times }) => times <= 0));
  }

  /** Everything works again. */
  clear(): void {
    this.missing.clear();
    this.unsupported.clear();
    this.missingExtensions.clear();
    for (const list of [this.refusals, this.setRefusals, this.failures, this.troubles]) list.length = 0;
  }

  /** How a program that starts now fails. */
  next(command: readonly string[]): ProgramFault | undefined {
    return used(this.failures, command);
  }

  /** What troubles a program that starts now. */
  nextTrouble(command: readonly string[]): Trouble | undefined {
    return used(this.troubles, command);
  }

  refusedSetLine(line: string): string | undefined {
    const refusal = this.setRefusals.find(({ containing, times }) => times > 0 && line.includes(containing));
    if (!refusal) return undefined;
    refusal.times--;
    return refusal.reason;
  }
}

function used<T extends { readonly of?: string; times: number }>(
  faults: readonly T[],
  command: readonly string[],
): T | undefined {
  const text = command.join(' ');
  const fault = faults.find(({ of, times }) => times > 0 && (of === undefined || text.includes(of)));
  if (fault) fault.times--;
  return fault;
}
