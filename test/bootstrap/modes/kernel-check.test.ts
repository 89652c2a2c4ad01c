import { checkKernel } from '../../../src/bootstrap/modes/nftables-mode.js';

describe('the check of the kernel version (docs/internals/spec/nftables.md §1.1)', () => {
  it.each(['5.13.0', '5.15.0-91-generic', '6.1.0-18-amd64', '10.0.1'])('accepts %s', (release) => {
    expect(() => checkKernel(release, {})).not.toThrow();
  });

  it.each(['5.12.19', '4.19.0-26-amd64', 'unknown'])('refuses %s', (release) => {
    expect(() => checkKernel(release, {})).toThrow('requires kernel 5.13 or later');
  });

  it('can be switched off', () => {
    const environment = { KUBE_PROXY_NFTABLES_SKIP_KERNEL_VERSION_CHECK: 'yes' };
    expect(() => checkKernel('4.19.0', environment)).not.toThrow();
  });
});
