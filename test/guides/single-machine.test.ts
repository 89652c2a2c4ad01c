import { UNCOMPRESSED } from '../deploy/uncompressed.js';
import { FreshCheckout } from '../package/fresh-checkout.js';
import { Testbed } from '../support/testbed/testbed.js';
import { askTimes } from '../support/testbed/traffic.js';
import { until } from '../support/until.js';
import { npm } from './runner/clone.js';
import { readGuide } from './runner/guide.js';
import { GuideShell } from './runner/guide-shell.js';
import { Machine } from './runner/machine.js';
import { knowing, type StandIn } from './runner/stand-ins.js';
import { Systemd } from './runner/systemd.js';

const guide = readGuide('docs/clusters/single-machine.md');
const inSection = (...names: readonly string[]): typeof guide =>
  guide.filter(({ section }) => names.includes(section));

/** On a machine whose network and folders are its own, from a fresh clone to a machine as it was. */
describe('the guide for a single machine', () => {
  let testbed: Testbed;
  let machine: Machine;
  let systemd: Systemd;
  let checkout: FreshCheckout;
  let shell: GuideShell;

  beforeAll(async () => {
    [testbed, checkout] = await Promise.all([Testbed.open(), FreshCheckout.make()]);
    machine = await Machine.make(testbed.node);
    // Of all man pages of this machine, after each change of a package.
    await machine.run(['rm', '-f', '/var/lib/man-db/auto-update']);
    systemd = new Systemd(machine);
    shell = await GuideShell.open({
      folder: checkout.folder,
      within: machine.commandLine,
      env: UNCOMPRESSED,
      standIns: { npm, 'apt-get': aptGet(), systemctl: systemd.systemctl },
    });
  });

  afterAll(async () => {
    await shell?.close();
    await systemd?.stop();
    await machine?.remove();
    await checkout?.remove();
    await testbed?.close();
  });

  /** dpkg does the work; whether Node came as a package is this machine's own business. */
  const aptGet = (): StandIn => {
    const dpkg = (...args: readonly string[]): Promise<string> =>
      // Its scripts call systemctl.
      machine.run([
        'env',
        `PATH=${shell.standIns.folder}:${process.env.PATH}:/usr/sbin:/sbin`,
        'dpkg',
        ...args,
      ]);
    const install: Parameters<typeof knowing>[0][string] = ([archive], { folder }) =>
      dpkg('--force-depends', '--install', `${folder}/${archive!}`);
    return knowing({
      'install -y ./build/*': ([archive], use) => install([`build/${archive}`], use),
      'install -y --reinstall ./build/*': ([archive], use) => install([`build/${archive}`], use),
      'remove -y *': ([name]) => dpkg('--remove', name!),
      'purge -y *': ([name]) => dpkg('--purge', name!),
    });
  };

  const rules = (): Promise<string> => machine.run(['nft', 'list', 'ruleset']);
  const answering = async (): Promise<readonly string[]> => {
    const outside = { what: 'http' as const, dst: '198.51.100.11', port: 30080 };
    return [...new Set(await askTimes(20, testbed.ext, outside))].map((name) => name.trim()).sort();
  };

  it('leads to a service that answers, through an upgrade, and back to the machine as it was', async () => {
    const before = [await rules(), await machine.files('/etc')];
    await shell.run(inSection('Install', 'Serve'));
    await until(
      'rules of other modes are looked for no more',
      async () => !(await machine.run(['kubeproxy', 'status'])).includes('waiting:'),
    );
    const shown = await shell.run(inSection('Verify'));
    expect(shown[0]!.stdout).toMatch(/^active\n808[12]\n$/);
    expect(await answering()).toEqual(['8081', '8082']);
    await shell.run(inSection('Upgrade'));
    expect(shell.standIns.used).toContain('systemctl try-restart kube-proxy-ts.service');
    expect(await answering()).toEqual(['8081', '8082']);
    await shell.run(inSection('Way back'));
    expect([await rules(), await machine.files('/etc')]).toEqual(before);
    expect(await machine.run(['sh', '-c', 'ls -d /usr/*/*kube*proxy* /usr/*/*/*kube*proxy* || true'])).toBe(
      '',
    );
    expect(shell.left(guide)).toEqual([]);
  });
});
