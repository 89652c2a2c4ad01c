import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A network namespace of this test process, and an `nft` that works in it. Throws when namespaces are not to be had. */
export class NftNamespace {
  readonly name: string;
  /** A program that runs nft inside. */
  readonly command: string;
  private readonly folder: string;

  constructor(label: string) {
    this.name = `t${process.pid}-${label}`;
    this.folder = mkdtempSync(join(tmpdir(), `${this.name}-`));
    execFileSync('ip', ['netns', 'add', this.name]);
    this.command = this.program('nft', `exec ip netns exec ${this.name} nft "$@"`);
  }

  /** Writes a shell script and gives its path. */
  program(name: string, body: string): string {
    const path = join(this.folder, name);
    writeFileSync(path, `#!/bin/sh\n${body}\n`);
    chmodSync(path, 0o755);
    return path;
  }

  nft(...parameters: string[]): string {
    return execFileSync(this.command, parameters, { encoding: 'utf8' });
  }

  load(text: string, ...options: string[]): void {
    execFileSync(this.command, [...options, '-f', '-'], { input: text, stdio: ['pipe', 'pipe', 'pipe'] });
  }

  remove(): void {
    execFileSync('ip', ['netns', 'del', this.name]);
    rmSync(this.folder, { recursive: true });
  }
}
