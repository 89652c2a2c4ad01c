import type { ServiceKey } from '../../../domain/model/service-port-name.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { RuleDifference } from '../../../domain/reconcile/rule-difference.js';
import { errorMessage } from '../../../application/error-message.js';
import { familyDifference, unknownDifference } from './difference-report.js';
import type { DifferenceReport, FamilyDifference } from './difference-report.js';

/** The part of a sync loop that compares. */
export interface ComparedLoop {
  readonly family: IpFamily;
  /** Undefined if the backend cannot compare. @throws if nothing has been programmed yet, or the kernel cannot be read */
  differences(): Promise<readonly RuleDifference[] | undefined>;
}

/** The result of comparing one family, for these Services, or with none for all. */
type Compared = (services: readonly ServiceKey[]) => FamilyDifference;

/** Use case Diff: how the kernel's rules differ from what was programmed. Changes nothing. Costs as much as a full verification. */
export class Diff {
  private running: Promise<readonly Compared[]> | undefined;

  constructor(
    private readonly mode: string,
    private readonly loops: readonly ComparedLoop[],
  ) {}

  /** One comparison runs at a time, whose result all callers share. @param services none: all */
  async report(services: readonly ServiceKey[] = []): Promise<DifferenceReport> {
    this.running ??= this.compareAll().finally(() => (this.running = undefined));
    const compared = await this.running;
    return { mode: this.mode, families: compared.map((ofFamily) => ofFamily(services)) };
  }

  private async compareAll(): Promise<readonly Compared[]> {
    const all: Compared[] = [];
    for (const loop of this.loops) all.push(await compare(loop));
    return all;
  }
}

async function compare(loop: ComparedLoop): Promise<Compared> {
  const { family } = loop;
  try {
    const lines = await loop.differences();
    return (services) => familyDifference(family, lines, services);
  } catch (error) {
    return () => unknownDifference(family, errorMessage(error));
  }
}
