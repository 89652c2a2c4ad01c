import { IptablesMode } from '../../../src/bootstrap/modes/iptables-mode.js';
import { IpvsMode } from '../../../src/bootstrap/modes/ipvs-mode.js';
import { UserspaceMode } from '../../../src/bootstrap/modes/userspace-mode.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { entryOf } from '../../adapters/ipvs/services.js';
import { nodeNetwork } from '../../support/iptables/services.js';
import { ARRIVING, NODE } from '../../support/iptables/walked.js';

const logger = new MemoryLogger();
const ipvs = {
  scheduler: '',
  excludeCIDRs: [],
  strictARP: false,
  syncPeriod: 0,
  minSyncPeriod: 0,
  tcpTimeout: 0,
  tcpFinTimeout: 0,
  udpTimeout: 0,
};
const userspace = { bindAddress: '198.51.100.1', portRange: '', udpIdleTimeout: 250 };

describe('a mode that was not opened', () => {
  it.each([
    { mode: new IptablesMode(false, logger), last: 'KUBE-SEP' },
    { mode: new IpvsMode(ipvs, logger), last: 'ipvs' },
    { mode: new UserspaceMode(userspace, logger), last: 'proxy socket' },
  ])('follows packets through the rules that it would make: $mode.name', async ({ mode, last }) => {
    const tracer = await mode.tracer('IPv4');
    const walk = await tracer.desired([entryOf('j')], nodeNetwork());
    const endings = await walk.walk(ARRIVING, NODE);
    expect(endings).toMatchObject([
      { verdict: 'sent', endpoint: { address: '10.244.1.1', port: 8080 }, probability: 1 },
    ]);
    expect(endings[0]!.steps.some(({ where }) => where.includes(last))).toBe(true);
  });
});
