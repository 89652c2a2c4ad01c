import {
  conntrackMaximum,
  conntrackSysctls,
  type ConntrackSettings,
} from '../../../src/domain/node/conntrack-sysctls.js';

const NOTHING: ConntrackSettings = {
  maxPerCore: 0,
  min: 0,
  tcpEstablishedTimeout: 0,
  tcpCloseWaitTimeout: 0,
  tcpBeLiberal: false,
  udpTimeout: 0,
  udpStreamTimeout: 0,
};

describe('conntrackMaximum (docs/internals/spec/server.md §4)', () => {
  it.each([
    [0, 131_072, 8, 0],
    [32_768, 131_072, 2, 131_072],
    [32_768, 131_072, 4, 131_072],
    [32_768, 131_072, 8, 262_144],
    [32_768, 131_072, 64, 1_048_576],
    [32_768, 2_000_000, 4, 2_000_000],
    [32_768, 2_000_000, 33, 1_048_576],
    [32_768, 131_072, 32, 1_048_576],
    [1, 0, 3, 3],
  ])('%i for each CPU, at least %i, on %i CPUs: %i', (maxPerCore, min, cpus, expected) => {
    expect(conntrackMaximum({ maxPerCore, min }, cpus)).toBe(expected);
  });
});

describe('conntrackSysctls', () => {
  it('come in kube-proxy’s order, in whole seconds', () => {
    const settings = {
      ...NOTHING,
      tcpEstablishedTimeout: 86_400_000,
      tcpCloseWaitTimeout: 3_600_000,
      tcpBeLiberal: true,
      udpTimeout: 30_900,
      udpStreamTimeout: 180_000,
    };
    expect(conntrackSysctls(settings).map(({ name, value }) => `${name} ${value}`)).toEqual([
      'net/netfilter/nf_conntrack_tcp_timeout_established 86400',
      'net/netfilter/nf_conntrack_tcp_timeout_close_wait 3600',
      'net/netfilter/nf_conntrack_tcp_be_liberal 1',
      'net/netfilter/nf_conntrack_udp_timeout 30',
      'net/netfilter/nf_conntrack_udp_timeout_stream 180',
    ]);
  });

  it('leave alone what is zero or off', () => {
    expect(conntrackSysctls(NOTHING)).toEqual([]);
  });

  it('write 0 for less than a second, as kube-proxy does', () => {
    expect(conntrackSysctls({ ...NOTHING, udpTimeout: 500 })).toEqual([
      { name: 'net/netfilter/nf_conntrack_udp_timeout', value: '0' },
    ]);
  });
});
