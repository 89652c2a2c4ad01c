import { execa } from 'execa';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { FreshCheckout } from './fresh-checkout.js';

/** In the place of Debian's packages: makes the folder as mmdebstrap does, whose parent must be there, and runs the hook. */
const MMDEBSTRAP = `#!/bin/sh
for argument; do
  case $argument in
  /*) root=$argument ;;
  --extract-hook=*) hook=\${argument#*=} ;;
  esac
done
mkdir "$root" && cd "$root" && mkdir -p usr/bin usr/sbin usr/lib usr/share/doc etc dev var/cache/apt/archives
: > var/cache/apt/archives/libc6_2.41_amd64.deb
sh -c "$hook" hook "$root"
`;

let checkout: FreshCheckout;
beforeAll(async () => {
  checkout = await FreshCheckout.make();
  await mkdir(`${checkout.folder}/bin-of-the-test`);
  await writeFile(`${checkout.folder}/bin-of-the-test/mmdebstrap`, MMDEBSTRAP, { mode: 0o755 });
});
afterAll(() => checkout?.remove());

it('the image is built in a fresh checkout as its documentation says', async () => {
  const { folder } = checkout;
  const commands = await checkout.commands('deploy/README.md');
  const build = commands.find((command) => command.startsWith('deploy/image/build.sh '));
  expect(build).toBe('deploy/image/build.sh build/root build/kube-proxy.tar');
  await execa('sh', ['-c', build!], {
    cwd: folder,
    env: { PATH: `${folder}/bin-of-the-test:${process.env.PATH}` },
  });
  expect(await readdir(`${folder}/build/root/opt/kube-proxy`)).toEqual(
    expect.arrayContaining(['bin', 'dist', 'node_modules', 'package.json']),
  );
  const { stdout: files } = await execa('tar', ['-tf', `${folder}/build/kube-proxy.tar`]);
  expect(files).toContain('./index.json');
}, 60_000);
