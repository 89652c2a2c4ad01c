import { parseCommandLine } from '../../../src/bootstrap/configuration/command-line.js';
import { ModeRules } from '../../../src/diagnostics/bootstrap/mode-rules.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { entryOf } from '../../adapters/ipvs/services.js';
import { nodeNetwork } from '../../support/iptables/services.js';
import { ARRIVING, NODE } from '../../support/iptables/walked.js';

describe('the rules of a mode that was not opened', () => {
  it.each([
    { mode: 'iptables', last: 'KUBE-SEP' },
    { mode: 'ipvs', last: 'ipvs' },
    { mode: 'userspace', last: 'proxy socket' },
  ])('lead packets as a proxy would: $mode', async ({ mode, last }) => {
    const flags = [`--proxy-mode=${mode}`, '--bind-address=198.51.100.1'];
    const { configuration } = parseCommandLine(flags, { hostname: () => 'node1' });
    const tracer = new ModeRules(configuration, new MemoryLogger()).tracer('IPv4');
    const walk = await tracer.desired([entryOf('j')], nodeNetwork());
    const endings = await walk.walk(ARRIVING, NODE);
    expect(endings).toMatchObject([
      { verdict: 'forward', endpoint: { address: '10.244.1.1', port: 8080 }, probability: 1 },
    ]);
    expect(endings[0]!.steps.some(({ where }) => where.includes(last))).toBe(true);
  });
});
