import type { IptablesDesiredState } from '../../domain/iptables/state/desired-state.js';
import { IptablesChange } from '../../domain/iptables/state/iptables-change.js';
import type { IptablesServicePortRules } from '../../domain/iptables/table.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { RestoreRefusedError } from './errors.js';
import { lackingText } from './detection/kernel-matches.js';
import { extensionOf } from './tool/restore-messages.js';
import type { RestoreScript } from './restore/restore-script.js';

/** A fragment on its way into the kernel, and what its service port had before. */
export interface Candidate {
  readonly wanted: IptablesServicePortRules | undefined;
  readonly former: IptablesServicePortRules | undefined;
}

export type Candidates = ReadonlyMap<ServicePortKey, Candidate>;

/** Has the composition take what candidates want, or what they had before; what that changes. */
export function replaceAll(
  composition: IptablesDesiredState,
  candidates: Iterable<readonly [ServicePortKey, Candidate]>,
  which: keyof Candidate,
): IptablesChange {
  const delta = new IptablesChange();
  for (const [key, candidate] of candidates) composition.replace(key, candidate[which], delta);
  return delta;
}

/** The candidates behind the lines that the tool named, and those that need a match that the kernel lacks, each with the reason. */
export function blame(
  { failures, lacking: lackingMatches }: RestoreRefusedError,
  script: RestoreScript,
  candidates: Candidates,
): ReadonlyMap<ServicePortKey, string> {
  const lines = script.find(failures.flatMap(({ line }) => line ?? []));
  const culprits = new Map<ServicePortKey, string>();
  for (const { line, reason, missing } of failures) {
    const { text, owner } = lines.get(line ?? 0) ?? {};
    if (text === undefined || owner === undefined || !candidates.has(owner)) continue;
    const lacking = missing ?? (/No such file/.test(reason) ? extensionOf(text) : undefined);
    const advice = lacking === undefined ? '' : `; is the kernel module for \`${lacking}' there?`;
    culprits.set(owner, `iptables refused \`${text}': ${reason}${advice}`);
  }
  for (const match of lackingMatches)
    for (const [key, { wanted }] of candidates)
      if (wanted && needs(wanted, match)) culprits.set(key, lackingText(match));
  return culprits;
}

function needs({ chains, entries }: IptablesServicePortRules, match: string): boolean {
  const rules = [...chains.flatMap((chain) => chain.rules), ...entries.map(({ rule }) => rule)];
  return rules.some((rule) => rule.includes(`-m ${match} `));
}
