import { world } from '../world/current.js';
import type { Planned } from '../world/scheduler.js';

/** What `setTimeout` and `setInterval` return. */
export class SimulatedTimer {
  private planned: Planned | undefined;

  constructor(
    private readonly run: () => void,
    private readonly milliseconds: number,
    private readonly repeats: boolean,
  ) {
    this.refresh();
  }

  refresh(): this {
    this.planned?.cancel();
    this.planned = world.scheduler.after(this.milliseconds, () => {
      if (this.repeats) this.refresh();
      this.run();
    });
    return this;
  }

  close(): void {
    this.planned?.cancel();
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}
