import type { IpFamily } from '../../domain/net/ip-family.js';

/** What the driver reports to metrics. Calls are cheap and never throw. */
export interface IptablesObserver {
  /** A restore was applied; `lockWaitSeconds` undefined when that could not be measured. */
  restored(
    family: IpFamily,
    restore: { readonly written: number; readonly lockWaitSeconds: number | undefined },
  ): void;
  /** A restore was refused, or could not be made. */
  restoreFailed(family: IpFamily): void;
}

export const SILENT_OBSERVER: IptablesObserver = { restored() {}, restoreFailed() {} };
