import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { unreached, violations } from '../support/browser/accessibility.js';
import { emptyCluster, largeService, pageObjects, twinService } from '../support/browser/page-cluster.js';
import { ADDRESS, ServedPage } from '../support/browser/served-page.js';
import { until } from '../support/until.js';

let served: ServedPage;
let page: Page;
beforeAll(async () => {
  served = await ServedPage.open();
  ({ page } = await served.browser.window());
});
// A proxy that stays down, or objects that stay, would fail all other tests of this file.
afterEach(async () => {
  await served.startProxy();
  await served.place(pageObjects());
});
afterAll(() => served?.close());

/** Loads the page anew. @param place such as `#/services` */
async function open(place: string): Promise<void> {
  await page.goto('about:blank');
  await page.goto(`${ADDRESS}/${place}`);
}

const text = (selector: string): Promise<string> => page.locator(selector).innerText();
const live = () => page.locator('.freshness').getByText('live', { exact: true });
const notResponding = () => page.getByText(/not responding since \d\d:\d\d:\d\d/);

describe('the connection', () => {
  /** The most that it may take to show that the proxy does not respond, and what a busy machine may add. Milliseconds. */
  const SHOWN_WITHIN = 3_000;
  const BUSY = 2_000;

  it.each([
    ['hangs', () => served.hangProxy()],
    ['is killed', () => served.killProxy()],
  ])('is shown as broken when the proxy %s, with the age of the data, and used again', async (_, end) => {
    await open('');
    await page.locator('#activity').waitFor();
    await live().waitFor();
    await end();
    await notResponding().waitFor({ timeout: SHOWN_WITHIN + BUSY });
    expect(await live().count()).toBe(0);
    // Known data stays, with its time.
    expect(await text('#node')).toMatch(/Node\s+old: as of \d\d:\d\d:\d\d[^]*node1/);
    expect(await text('#recent')).toContain('old: as of');
    expect(await text('header')).toMatch(/kube-proxy-ts on node1[^]*updated \d+ s ago/);
    // Also in views that are opened meanwhile.
    await page.getByRole('link', { name: 'Services', exact: true }).click();
    await page.getByText('Loading…').waitFor();
    await sleep(3_000);
    expect(await live().count()).toBe(0);
    await page.goBack();
    expect(await text('#node')).toMatch(/old: as of \d\d:\d\d:\d\d[^]*node1/);
    await served.startProxy();
    await live().waitFor();
    await page.getByText('old: as of').waitFor({ state: 'detached' });
  });

  it('shows a pause of 8 s, and at most 5 s later the data is current', async () => {
    await open('#/services');
    await page.getByRole('table').waitFor();
    served.hangProxy();
    await notResponding().waitFor();
    await sleep(8_000);
    await served.startProxy();
    await live().waitFor({ timeout: 5_000 + BUSY });
    expect(await text('.freshness')).toMatch(/updated [0-6] s ago/);
  });
});

describe('the requests of the page', () => {
  /** Requests from now on, by path. */
  const requestsFromNow = (): Map<string, number> => {
    const counts = new Map<string, number>();
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      counts.set(pathname, (counts.get(pathname) ?? 0) + 1);
    });
    return counts;
  };

  it('are for rows after a change and every 5 s, and none while nobody sees the page', async () => {
    await open('#/services');
    await page.getByRole('table').waitFor();
    const requests = requestsFromNow();
    await until('it has asked for changes', async () => (requests.get('/debug/sync') ?? 0) >= 4);
    expect(requests.get('/debug/search') ?? 0).toBeLessThanOrEqual(1);
    const before = requests.get('/debug/search') ?? 0;
    await served.place(pageObjects('10.244.2.15'));
    await until('it asks for the rows', async () => (requests.get('/debug/search') ?? 0) > before);

    await page.evaluate(() => {
      Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    // Requests that were begun end.
    await sleep(1_500);
    requests.clear();
    await sleep(6_000);
    expect([...requests]).toEqual([]);
    await page.evaluate(() => {
      Object.defineProperty(document, 'visibilityState', { value: 'visible', configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    await until('it asks again', async () => (requests.get('/debug/sync') ?? 0) > 0);
  });
});

describe('the overview', () => {
  it('lists the Services with problems, the worst first, with links', async () => {
    await served.place(pageObjects() + '---\n' + twinService());
    await open('');
    const problems = page.locator('#problems');
    const twin = problems.getByRole('listitem').filter({ hasText: 'shop/twin' });
    await twin.getByText(/172\.30\.200\.6:80\/TCP belongs to shop\/cart:http/).waitFor();
    const listed = await problems.getByRole('listitem').allInnerTexts();
    expect(listed.map((line) => /error|warning/.exec(line)?.[0])).toEqual(
      [...listed.map((line) => /error|warning/.exec(line)?.[0])].sort(),
    );
    await twin.getByRole('link').click();
    await page.getByRole('heading', { name: 'shop/twin' }).waitFor();
    await page
      .getByText(/belongs to shop\/cart:http/)
      .first()
      .waitFor();
  });

  it('shows changes per minute and latency in one line, and unanswered connections', async () => {
    await open('');
    await page.getByText(/changes per minute; programming latency p50 .* m?s, p99 .* m?s/).waitFor();
    await page.getByText('Unanswered connections: none').waitFor();
    await served.node.send([{ dst: '172.30.200.6', proto: 'tcp', port: 80, n: 8 }]);
    await page.locator('#unanswered').getByRole('link', { name: 'shop/cart' }).waitFor();
  });
});

describe('a Service of a thousand endpoints', () => {
  beforeEach(async () => {
    await served.place(pageObjects() + '---\n' + largeService(1_000));
    await open('#/service/ml/large');
    await page.getByText('1,000 endpoints').waitFor();
  });

  it.each([360, 768, 1440])(
    'is usable at %i pixels, with endpoints that are not ready first',
    async (width) => {
      await page.setViewportSize({ width, height: 720 });
      const rows = page.getByRole('table', { name: 'Endpoints' }).locator('tbody tr');
      await rows.first().getByText('not ready').waitFor();
      expect(await rows.first().innerText()).toContain('10.246.1.244:8080');
      expect(await rows.count()).toBe(200);
      await page.getByRole('button', { name: 'Show 200 more of 800' }).click();
      await page.getByRole('button', { name: 'Show 200 more of 600' }).waitFor();
      expect(await rows.count()).toBe(400);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
      expect(await violations(page)).toEqual([]);
    },
  );
});

describe('a cluster without Services', () => {
  it.each(['', '#/services'])('has advice at /%s', async (where) => {
    await served.place(emptyCluster());
    await open(where);
    await page.getByText('No Service yet').waitFor();
    expect(await text('.empty')).toMatch(/kubectl expose[^]*--manifests/);
    expect(await violations(page)).toEqual([]);
  });
});

/** With what is there when the view is complete. */
const PLACES = [
  ['', '#activity'],
  ['#/services', 'td.name a'],
  ['#/service/shop/cart', '.traffic'],
  ['#/history', 'td.name a'],
  ['#/trace', 'form button'],
  ['#/trace?from=outside&to=shop/cart', '.steps li'],
] as const;

describe.each(PLACES)('at /%s', (where, last) => {
  const asked = new Set<string>();

  beforeEach(async () => {
    await page.setViewportSize({ width: 1440, height: 720 });
    page.on('request', (request) => asked.add(new URL(request.url()).origin));
    await open(where);
    await page.locator(last).first().waitFor();
  });

  it('everything can be reached with the tab key', async () => {
    expect(await unreached(page)).toEqual([]);
  });

  it.each(['light', 'dark'] as const)('axe finds nothing that keeps people out, %s', async (colorScheme) => {
    await page.emulateMedia({ colorScheme });
    expect(await violations(page)).toEqual([]);
  });

  it('links are known as such without their color', async () => {
    const others = await page.$$eval('main a[href]', (links) =>
      links.filter((link) => !getComputedStyle(link).textDecorationLine.includes('underline')),
    );
    expect(others).toEqual([]);
  });

  it.each([360, 768, 1440])('nothing goes beyond a width of %i pixels', async (width) => {
    await page.setViewportSize({ width, height: 740 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    expect(await violations(page)).toEqual([]);
  });

  it('nobody but this server was asked', () => {
    expect([...asked]).toEqual([ADDRESS]);
  });
});
