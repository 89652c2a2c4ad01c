import { execa } from 'execa';
import { readFileSync } from 'node:fs';

const firstLine = readFileSync('bin/kubeproxy', 'utf8').split('\n', 1)[0]!;
const options = firstLine.split(' ').filter((word) => word.startsWith('--'));

describe('the limits of the heap', () => {
  it('are the same in the image', () => {
    const [semiSpace, ...others] = options;
    expect(options).toHaveLength(3);
    expect(readFileSync('deploy/image/build.sh', 'utf8')).toContain(`#!/usr/bin/node ${semiSpace}\\n`);
    expect(readFileSync('deploy/image/archive.mjs', 'utf8')).toContain(`NODE_OPTIONS=${others.join(' ')}'`);
  });

  it('are options that Node takes', async () => {
    const print = 'console.log(process.execArgv.slice(0, 3).join())';
    const { stdout } = await execa('env', ['-S', `node ${options.join(' ')}`, '-e', print]);
    expect(stdout).toBe(options.join());
  });
});
