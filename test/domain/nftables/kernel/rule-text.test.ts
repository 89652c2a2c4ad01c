import { IP_FAMILIES } from '../../../../src/domain/net/ip-family.js';
import { ruleText } from '../../../../src/domain/nftables/kernel/rule-text.js';
import { kernelRule } from '../../../support/nftables/encoded-ruleset.js';
import { hookedSamples, matchSamples } from '../../../support/nftables/every-statement.js';

describe.each(IP_FAMILIES)('a rule that the kernel lists, %s', (family) => {
  const hooked = Object.values(hookedSamples(family)).flat();
  it.each([...matchSamples(family), ...hooked])('reads $text', ({ statements, text }) => {
    expect(ruleText(kernelRule(family, { statements }), family)).toBe(text);
  });
});
