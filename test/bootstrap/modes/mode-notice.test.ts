import { modeNotice } from '../../../src/bootstrap/modes/choose-mode.js';

const since137 =
  'The ipvs proxier has been deprecated and will be disabled by default in Kubernetes 1.40 and removed in Kubernetes 1.43. ' +
  "Migrate to the 'nftables' proxier instead.";

describe('what people are told of their mode (docs/internals/spec/changes-1.37.md §2)', () => {
  it.each([
    [
      '1.36',
      "The ipvs proxier is now deprecated and may be removed in a future release. Please use 'nftables' instead.",
    ],
    ['1.37', since137],
    ['1.38', since137],
  ] as const)('%s: ipvs ends', (kubernetesVersion, note) => {
    expect(modeNotice({ mode: 'ipvs', kubernetesVersion })).toEqual({
      severity: 'error',
      reason: 'IPVSDeprecation',
      note,
    });
  });

  it.each(['1.37', '1.38'] as const)('%s: an unset mode will mean another one', (kubernetesVersion) => {
    expect(modeNotice({ mode: '', kubernetesVersion })).toEqual({
      severity: 'warn',
      reason: 'ProxyModeUnset',
      note: expect.stringMatching(/nftables from Kubernetes 1\.40/),
    });
  });

  it('1.38: iptables will not be the default, which is logged', () => {
    expect(modeNotice({ mode: 'iptables', kubernetesVersion: '1.38' })).toEqual({
      severity: 'info',
      note: expect.stringMatching(/1\.40 .* No release has been announced that removes 'iptables'\.$/),
    });
  });

  it('nothing of a mode that is chosen, nor before 1.37', () => {
    for (const mode of ['iptables', 'nftables', 'userspace', 'auto'] as const)
      expect(modeNotice({ mode, kubernetesVersion: '1.37' })).toBeUndefined();
    expect(modeNotice({ mode: '', kubernetesVersion: '1.36' })).toBeUndefined();
  });
});
