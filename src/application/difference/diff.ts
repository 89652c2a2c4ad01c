import type { IpFamily } from '../../domain/net/ip-family.js';
import type { RuleDifference } from '../../domain/reconcile/rule-difference.js';
import { errorMessage } from '../error-message.js';
import {
  CANNOT_COMPARE,
  familyDifference,
  unknownDifference,
  type DifferenceReport,
  type FamilyDifference,
} from './difference-report.js';

/** The part of a sync loop that is asked. */
export interface ComparedLoop {
  readonly family: IpFamily;
  /** Undefined if the backend cannot tell. @throws if nothing has been programmed yet, or the kernel cannot be read */
  differences(): Promise<readonly RuleDifference[] | undefined>;
}

/** Use case Diff: what the kernel has otherwise than was programmed. Changes nothing. Costs as much as a full verification. */
export class Diff {
  private running: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly mode: string,
    private readonly loops: readonly ComparedLoop[],
  ) {}

  /**
   * One after the other, however many ask.
   * @param service `namespace/name` of the only one that is asked about; undefined: all
   */
  report(service?: string): Promise<DifferenceReport> {
    const report = this.running.then(async () => {
      const families: FamilyDifference[] = [];
      for (const loop of this.loops) families.push(await compare(loop, service));
      return { mode: this.mode, families };
    });
    this.running = report;
    return report;
  }
}

async function compare(loop: ComparedLoop, service: string | undefined): Promise<FamilyDifference> {
  const { family } = loop;
  try {
    const lines = await loop.differences();
    return lines ? familyDifference(family, lines, service) : unknownDifference(family, CANNOT_COMPARE);
  } catch (error) {
    return unknownDifference(family, errorMessage(error));
  }
}
