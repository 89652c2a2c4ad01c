import { compileLayout } from './nftables-netlink/layout.js';
import type { NetlinkDriver } from './nftables-netlink/driver.js';
import { DriverBundle, Namespace } from './in-namespace.js';

void compileLayout;
describe('smoke', () => {
  it('fills', async () => {
    const bundle = await DriverBundle.make<NetlinkDriver>(
      new URL('./nftables-netlink/driver.ts', import.meta.url),
    );
    const namespace = await Namespace.open('nl');
    try {
      const driver = namespace.drive(bundle);
      console.log(await driver.ask('fill', 'IPv4', 50_000));
      console.log(await namespace.run(['sh', '-c', 'nft list table ip kube-proxy | head -8']));
      console.log(await driver.ask('fill', 'IPv6', 50_000));
      console.log(await namespace.run(['sh', '-c', 'nft list table ip6 kube-proxy | head -8']));
    } finally {
      await namespace.close();
      await bundle.remove();
    }
  });
});
