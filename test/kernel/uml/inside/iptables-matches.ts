import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RestoreRejectedError } from '../../../../src/adapters/iptables/iptables-commands.js';
import { IptablesTool } from '../../../../src/adapters/iptables/iptables-tool.js';
import { renderSave } from '../../../support/iptables/render-save.js';
import { withoutModules } from './tool.js';

const ruleWith = (match: string): Iterable<string> =>
  [`*nat\n:TRIAL - [0:0]\n-A TRIAL ${match} -j RETURN\nCOMMIT\n`].values();

describe('iptables-legacy on a kernel without some of its matches', () => {
  const tool = new IptablesTool({ variant: 'legacy' });

  it('names them before a rule is written, and with a rule that is refused', async () => {
    // The tables themselves are there.
    for (const table of ['nat', 'filter'] as const)
      assert.deepEqual(await tool.listChain('IPv4', table, 'OUTPUT'), []);
    await withoutModules(async () => {
      const lacking = await tool.lackingMatches('IPv4');
      for (const match of ['statistic', 'recent', 'nfacct']) assert.ok(lacking.includes(match), match);
      await assert.rejects(
        tool.restore('IPv4', ruleWith('-m recent --name X --rcheck')),
        (error) => error instanceof RestoreRejectedError && error.lacking.join() === 'recent',
      );
    });
    assert.deepEqual(await tool.lackingMatches('IPv4'), []);
    await tool.restore('IPv4', ruleWith('-m recent --name X --rcheck'));
    assert.doesNotMatch(renderSave(await tool.save('IPv4')), /KUBE-TRIAL/);
  });
});
