import type { IptablesComposition } from '../../domain/iptables/composition.js';
import { IptablesDelta } from '../../domain/iptables/delta.js';
import type { IptablesFragment } from '../../domain/iptables/table.js';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { RestoreRefusedError } from './errors.js';
import { lackingText } from './kernel-matches.js';
import { extensionOf } from './restore-messages.js';
import type { RestoreScript } from './restore-script.js';

/** A fragment on its way into the kernel, and what its service port had before. */
export interface Candidate {
  readonly wanted: IptablesFragment | undefined;
  readonly former: IptablesFragment | undefined;
}

export type Candidates = ReadonlyMap<ServicePortKey, Candidate>;

/** Has the composition take what candidates want, or what they had before; what that changes. */
export function replaceAll(
  composition: IptablesComposition,
  candidates: Iterable<readonly [ServicePortKey, Candidate]>,
  which: keyof Candidate,
): IptablesDelta {
  const delta = new IptablesDelta();
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

function needs({ chains, entries }: IptablesFragment, match: string): boolean {
  const rules = [...chains.flatMap((chain) => chain.rules), ...entries.map(({ rule }) => rule)];
  return rules.some((rule) => rule.includes(`-m ${match} `));
}
