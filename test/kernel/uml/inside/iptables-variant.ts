import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { IptablesTool } from '../../../../src/adapters/iptables/iptables-tool.js';
import { tool } from './tool.js';

/** This kernel has nf_tables, but no address translation in it. */
describe('which iptables, on a kernel where iptables-nft cannot write rules of table nat', () => {
  it('is iptables-legacy, although nothing indicates it, and trying leaves no trace', async () => {
    const { variant, reason } = await new IptablesTool().identify();
    assert.equal(variant, 'legacy');
    assert.match(reason, /^iptables-nft cannot write to table nat: line 2: RULE_APPEND failed/);
    assert.equal(await tool('nft', 'list', 'ruleset'), '');
  });
});
