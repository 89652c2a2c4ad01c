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
afterAll(() => served?.close());

/** Loads the page anew. @param place such as `#/services` */
async function open(place: string): Promise<void> {
  await page.goto('about:blank');
  await page.goto(`${ADDRESS}/${place}`);
}

const text = (selector: string): Promise<string> => page.locator(selector).innerText();

describe('the connection', () => {
  // A proxy that stays down would fail all other tests of this file.
  afterEach(() => served.startProxy());

  it('is said to be broken, since when, and used again when it works', async () => {
    await open('');
    await page.getByText('Degraded').waitFor();
    await page.locator('#recent').waitFor();
    await served.killProxy();
    await page.getByText(/disconnected since \d\d:\d\d:\d\d, trying again/).waitFor();
    // What was known stays, and is said to be old.
    expect(await text('#health')).toMatch(/Health\s+old: as of \d\d:\d\d:\d\d[^]*node1/);
    expect(await text('#recent')).toContain('old: as of');
    expect(await text('header')).toContain('kube-proxy-ts on node1');
    await served.startProxy();
    await page.getByText('live', { exact: true }).waitFor();
    expect(await page.getByText('old: as of').count()).toBe(0);
  });
});

describe('what the page asks for', () => {
  /** Requests from now on, by path. */
  const requestsFromNow = (): Map<string, number> => {
    const counts = new Map<string, number>();
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      counts.set(pathname, (counts.get(pathname) ?? 0) + 1);
    });
    return counts;
  };

  it('is the list of services only after a change, and nothing while nobody sees the page', async () => {
    const requests = requestsFromNow();
    await open('#/services');
    await until('it has asked for changes', async () => (requests.get('/debug/sync') ?? 0) >= 3);
    expect(requests.get('/debug/services')).toBe(1);
    await served.place(pageObjects('10.244.2.15'));
    await until('it has asked for the list', async () => requests.get('/debug/services') === 2);

    await page.evaluate(() => {
      Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
    });
    // What was begun ends.
    await sleep(1_500);
    requests.clear();
    await sleep(2_500);
    expect([...requests]).toEqual([]);
    await page.evaluate(() => {
      Object.defineProperty(document, 'visibilityState', { value: 'visible', configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    await until('it asks again', async () => (requests.get('/debug/sync') ?? 0) > 0);
  });
});

describe('the overview', () => {
  afterAll(() => served.place(pageObjects()));

  it('counts what somebody should look at, and leads to those Services', async () => {
    await open('');
    const counts = page.locator('#counts');
    await counts.getByRole('link', { name: '1 service without endpoints' }).waitFor();
    expect(await counts.getByRole('link').count()).toBe(1);
    await served.place(pageObjects() + '---\n' + twinService());
    await counts.getByRole('link', { name: '1 held frontend' }).click();
    await page.getByText('1 of 3 services').waitFor();
    const [row] = await page.locator('[role=grid] [role=rowgroup] [role=row]').allInnerTexts();
    expect(row).toMatch(/held\s+shop\/twin/);
    await open('#/service/shop/twin');
    await page.getByText('As a list').click();
    const fate =
      'belongs to shop/cart:http, packets go to its 2 endpoints 10.244.2.11:8080, 10.244.2.12:8080';
    await page.getByRole('listitem').filter({ hasText: fate }).waitFor();
  });
});

describe('a Service of a thousand endpoints', () => {
  beforeAll(async () => {
    await served.place(pageObjects() + '---\n' + largeService(1_000));
    await page.setViewportSize({ width: 1100, height: 720 });
    await open('#/service/ml/large');
    await page.getByRole('img', { name: /1000 endpoints/ }).waitFor();
  });
  afterAll(() => served.place(pageObjects()));

  it('is drawn in one window, and all of it is in a list of which few rows are in the document', async () => {
    const drawing = page.getByRole('img', { name: /1000 endpoints/ });
    expect((await drawing.boundingBox())!.height).toBeLessThan(720);
    await drawing.getByText(/^and 99\d more$/).waitFor();
    await page.getByText('As a list').click();
    const list = page.getByRole('grid', { name: 'Endpoints' });
    expect(await list.getAttribute('aria-rowcount')).toBe('1001');
    expect(await list.getByRole('row').count()).toBeLessThan(60);
    await list.press('End');
    await list.getByText('10.246.3.231:8080').waitFor();
    expect(await violations(page)).toEqual([]);
  });

  it('has what changed first, and the endpoint that came before all others', async () => {
    await served.place(pageObjects() + '---\n' + largeService(1_001));
    const drawing = page.getByRole('img', { name: /1001 endpoints/ });
    await drawing.locator('[title^="10.246.3.232:8080: came"]').waitFor();
    const regions = await page
      .getByRole('region')
      .evaluateAll((all) => all.map(({ ariaLabel }) => ariaLabel));
    expect(regions).toEqual(['What changed', 'http TCP, IPv4', 'Traffic']);
    const list = page.getByRole('grid', { name: 'Endpoints' });
    await list.press('Home');
    await list.locator('[aria-rowindex="2"]', { hasText: '10.246.3.232:8080' }).waitFor();
  });

  it('has its endpoints without connections folded', async () => {
    await page.getByText('1,001 endpoints without connections').waitFor();
    await served.node.send([{ dst: '172.30.201.1', proto: 'tcp', port: 80, n: 1 }]);
    await page.getByText('1,000 endpoints without connections').waitFor();
    expect(
      await page
        .getByRole('grid', { name: /^Connections/ })
        .getByRole('row')
        .count(),
    ).toBe(3);
  });
});

describe('a cluster without Services', () => {
  beforeAll(() => served.place(emptyCluster()));
  afterAll(() => served.place(pageObjects()));

  it.each(['', '#/services'])('says what to do, at /%s', async (where) => {
    await open(where);
    await page.getByText('No Service yet').waitFor();
    expect(await text('.empty')).toMatch(/kubectl expose[^]*--manifests/);
    expect(await violations(page)).toEqual([]);
  });
});

/** With what is there when the view is complete. */
const PLACES = [
  ['', '#recent'],
  ['#/services', '[role=grid] a'],
  ['#/service/shop/cart', '.traffic [role=gridcell]'],
  ['#/history', '[role=grid] a'],
  ['#/trace', 'form button'],
  ['#/trace?from=outside&to=172.30.200.6:80', '.steps li'],
] as const;

describe.each(PLACES)('at /%s', (where, last) => {
  const asked = new Set<string>();

  beforeAll(async () => {
    await page.setViewportSize({ width: 1100, height: 720 });
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

  it('nothing goes beyond the width of a phone', async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    expect(await violations(page)).toEqual([]);
  });

  it('nobody but this server was asked', () => {
    expect([...asked]).toEqual([ADDRESS]);
  });
});
