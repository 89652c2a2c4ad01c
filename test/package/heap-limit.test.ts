import { execa } from 'execa';
import { readFileSync } from 'node:fs';

const program = readFileSync('bin/kubeproxy', 'utf8').split('\n', 1)[0]!;
const image = readFileSync('deploy/image/build.sh', 'utf8');

describe('the space for new objects', () => {
  const [option] = /--max-semi-space-size=\d+/.exec(program)!;

  it('is the same in the image', () => {
    expect(image).toContain(`#!/usr/bin/node ${option}\\n`);
  });

  it('is one that Node takes', async () => {
    const print = 'console.log(process.execArgv.join())';
    expect((await execa(process.execPath, [option, '-e', print])).stdout).toContain(option);
    expect((await execa('env', ['-S', `node ${option} -p 1`])).stdout).toBe('1');
  });
});
