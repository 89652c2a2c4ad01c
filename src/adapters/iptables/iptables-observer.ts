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
  /** After a sync: how many rules of ours the table holds, and how many of them this sync wrote. */
  rulesCounted(
    family: IpFamily,
    rules: { readonly table: string; readonly owned: number; readonly written: number },
  ): void;
}

export const SILENT_OBSERVER: IptablesObserver = { restored() {}, restoreFailed() {}, rulesCounted() {} };
