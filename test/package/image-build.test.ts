import { execa } from 'execa';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { expectRightDigests } from '../deploy/archive-digests.js';
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

/** In the place of npm's registry: packages that are as good as empty. test/deploy/image has the real ones. */
const NPM = `#!/bin/sh -e
[ "$1 $2" = 'ci --prefix' ] || PATH=\${PATH#*:} exec npm "$@"
for argument; do
  case $argument in
  --cpu=*) cpu=\${argument#*=} ;;
  esac
done
for name in koffi "@koromix/koffi-linux-$cpu" "node-linux-$cpu"; do
  mkdir -p "$3/node_modules/$name/bin"
  cd "$3/node_modules/$name"
  echo "{ \\"name\\": \\"$name\\", \\"version\\": \\"1.0.0\\", \\"license\\": \\"MIT\\" }" >package.json
  touch LICENSE bin/node
done
`;

let checkout: FreshCheckout;
beforeAll(async () => {
  checkout = await FreshCheckout.make();
  await mkdir(`${checkout.folder}/bin-of-the-test`);
  for (const [name, text] of Object.entries({ mmdebstrap: MMDEBSTRAP, npm: NPM }))
    await writeFile(`${checkout.folder}/bin-of-the-test/${name}`, text, { mode: 0o755 });
});
afterAll(() => checkout?.remove());

it('the image is built in a fresh checkout as its documentation says, into an archive in which every digest is right', async () => {
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
  await expectRightDigests(`${folder}/build/kube-proxy.tar`);
}, 60_000);
