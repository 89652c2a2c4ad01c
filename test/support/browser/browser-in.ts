import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from 'playwright-core';

/** A window, and what went wrong in it. */
export interface Window {
  readonly page: Page;
  /** Exceptions of the page, and what the browser complains about on its console, refusals of the content policy among it. */
  readonly complaints: readonly string[];
}

/** A browser without windows of its own, in a network namespace. Debian's, driven by playwright-core. */
export class BrowserIn {
  private constructor(
    private readonly browser: Browser,
    private readonly folder: string,
  ) {}

  static async open(namespace: string): Promise<BrowserIn> {
    const folder = await mkdtemp(join(tmpdir(), 'kubeproxy-browser-'));
    const executablePath = join(folder, 'chromium');
    await writeFile(executablePath, `#!/bin/sh\nexec ip netns exec ${namespace} chromium "$@"\n`);
    await chmod(executablePath, 0o755);
    // It is root, and has no sandbox as root.
    return new BrowserIn(await chromium.launch({ executablePath, args: ['--no-sandbox'] }), folder);
  }

  /** Opens a window with a profile of its own. */
  async window(): Promise<Window> {
    const context = await this.browser.newContext({ viewport: { width: 1100, height: 720 } });
    const page = await context.newPage();
    page.setDefaultTimeout(15_000);
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
    });
    return { page, complaints };
  }

  async close(): Promise<void> {
    await this.browser.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}
