/** A refusal that has nothing to do with what is in a batch, or a batch whose content the kernel does not like. */
export interface Fault {
  readonly errno: number;
  /** How many batches. */
  readonly count: number;
  /** Only batches of this process. */
  readonly process?: number;
  /** Only batches that add something with these bytes or this text in it: the message is blamed, and the element. */
  readonly containing?: string | Buffer;
}

interface Planned extends Fault {
  left: number;
}

/** The faults that are still to come. */
export class Faults {
  private readonly refusals: Planned[] = [];
  private answersToLose = 0;

  refuseNext(fault: Fault): void {
    this.refusals.push({ ...fault, left: fault.count });
  }

  loseAnswers(count: number): void {
    this.answersToLose += count;
  }

  clear(): void {
    this.refusals.length = 0;
    this.answersToLose = 0;
  }

  /** Those of a batch, which count as used. */
  take(process: number, batch: Buffer): readonly Fault[] {
    const met = this.refusals.filter(
      (fault) =>
        (fault.process === undefined || fault.process === process) &&
        (fault.containing === undefined || batch.includes(fault.containing)),
    );
    for (const fault of met) if (--fault.left <= 0) this.refusals.splice(this.refusals.indexOf(fault), 1);
    return met;
  }

  takeLoss(): boolean {
    if (this.answersToLose === 0) return false;
    this.answersToLose--;
    return true;
  }
}
