import type { Simulation } from '../simulation.js';
import type { Violation } from './violation.js';

/** When all is quiet again: the kernel is what the cluster asks for, and what the program says of it is true. */
export class WhenQuiet {
  violation: Violation | undefined;
  private readonly beganAt: number;

  constructor(private readonly simulation: Simulation) {
    this.beganAt = simulation.world.now;
  }

  /** Whether the kernel has everything. */
  isQuiet(): Promise<boolean> {
    return Promise.resolve(this.difference() === undefined);
  }

  /** To be called once it is quiet, or when it should be. */
  check(): Promise<void> {
    const detail = this.difference();
    if (detail !== undefined) this.broken('the kernel equals the cluster', detail);
    return Promise.resolve();
  }

  private difference(): string | undefined {
    const { simulation } = this;
    const { proxy } = simulation.world;
    if (!proxy.isRunning) return `the program has ended with ${proxy.exitCode}: ${String((proxy.failure as Error | undefined)?.stack)}`;
    for (const service of simulation.history.services) {
      const problem = simulation.problemOf(service, [simulation.history.current(service)]);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  private broken(promise: string, detail: string): void {
    this.violation ??= { promise, detail, at: this.simulation.world.now - this.beganAt };
  }
}
