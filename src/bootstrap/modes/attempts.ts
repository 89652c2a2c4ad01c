import { errorMessage } from '../../application/error-message.js';

/** Makes several steps; one that fails does not stop the others. */
export class Attempts {
  private readonly errors: unknown[] = [];

  async make(step: () => Promise<unknown>): Promise<void> {
    try {
      await step();
    } catch (error) {
      this.errors.push(error);
    }
  }

  /** Throws the errors of all failed steps. */
  end(): void {
    if (this.errors.length === 0) return;
    if (this.errors.length === 1) throw this.errors[0];
    const reasons = this.errors.map(errorMessage);
    throw new AggregateError(this.errors, reasons.join('; '));
  }
}
