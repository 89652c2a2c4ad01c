import type { RuleText } from '../table.js';
import { comment } from '../text/quoting.js';
import { ruleText } from '../text/rule-parts.js';
import { masqueradeMark, type IptablesHost } from './options.js';

/* The rules about packets that are to be masqueraded, the same in modes iptables and ipvs. `bit` is that of the mark. */

/** Marks a packet. */
export function markRule(bit: number): RuleText {
  const mark = masqueradeMark(bit);
  return ruleText({ target: `MARK --set-xmark ${mark}/${mark}` });
}

/**
 * Masquerades marked packets. The mark is taken off before, so that an encapsulated copy of the packet is not masqueraded
 * again.
 */
export function masqueradeRules(
  bit: number,
  { randomFully }: Pick<IptablesHost, 'randomFully'>,
): readonly RuleText[] {
  const mark = masqueradeMark(bit);
  return [
    ruleText({ matches: [`-m mark ! --mark ${mark}/${mark}`], target: 'RETURN' }),
    ruleText({ target: `MARK --set-xmark ${mark}/0x0` }),
    ruleText({
      matches: [comment('kubernetes service traffic requiring SNAT')],
      target: randomFully ? 'MASQUERADE --random-fully' : 'MASQUERADE',
    }),
  ];
}

/** Lets marked packets, and what belongs to connections that are known, through the node. */
export function acceptRules(bit: number): readonly RuleText[] {
  const mark = masqueradeMark(bit);
  return [
    ruleText({
      matches: [comment('kubernetes forwarding rules'), `-m mark --mark ${mark}/${mark}`],
      target: 'ACCEPT',
    }),
    ruleText({
      matches: [
        comment('kubernetes forwarding conntrack rule'),
        '-m conntrack --ctstate RELATED,ESTABLISHED',
      ],
      target: 'ACCEPT',
    }),
  ];
}
