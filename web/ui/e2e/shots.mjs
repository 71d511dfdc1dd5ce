// The pictures of the README and the guide: the page over a real server, with
// requests as agents make them. They are written to the folder that is named.
import { join } from 'node:path'
import { live, quit, World } from './world.mjs'

const folder = process.argv[2]
if (!folder) throw new Error('no folder for the pictures; type: make shots')

const shop = '/home/ana/shop'
const before = `func Total(items []Item) int {
	sum := 0
	for _, it := range items {
		sum += it.Price
	}
	return sum
}`
const after = `func Total(items []Item) int {
	sum := 0
	for _, it := range items {
		sum += it.Price * it.Count
	}
	return sum
}`
const change = `--- a/cart/total.go
+++ b/cart/total.go
@@ -12,7 +12,7 @@ package cart
 // Total is what a cart costs, in cents.
 func Total(items []Item) int {
 	sum := 0
 	for _, it := range items {
-		sum += it.Price
+		sum += it.Price * it.Count
 	}
 	return sum
 }
`
const asked = [
  [{ tool: 'Bash', session: 'docs', cwd: '/home/ana/docs', args: { command: 'npm install --save-dev prettier' }, said: { description: 'Add a formatter' } }, {}],
  [{ tool: 'WebFetch', session: 'docs', cwd: '/home/ana/docs', args: { url: 'https://go.dev/ref/spec', prompt: 'What is a type set?' } }, {}],
  [{ tool: 'Edit', session: 'shop', cwd: shop, args: { file_path: `${shop}/cart/total.go`, old_string: before, new_string: after }, said: { description: 'Count each item as often as it is in the cart' } },
    { canEdit: true, facts: { workspace: shop, cwd: shop, operands: [{ arg: 'file_path', path: `${shop}/cart/total.go`, resolved: `${shop}/cart/total.go`, state: 'file' }] },
      shown: { type: 'diff', language: 'diff', content: change, metadata: { path: 'cart/total.go', added: '1', removed: '1' } } }],
  [{ tool: 'Bash', session: 'shop', cwd: shop, args: { command: 'git push --force origin main' }, said: { description: 'Publish the fix' } }, { canEdit: true }],
]

const w = await World.start()
try {
  let list = []
  for (const [i, [call, options]] of asked.entries()) {
    w.ask(call, { patience: 600, ...options })
    list = await w.open(i + 1)
  }
  const asks = (words) => list.find((r) => JSON.stringify(r.preview).includes(words)).id
  const show = async (page, request) => {
    await page.locator(`button[data-id="${request}"]`).click()
    await live(page, request)
    await page.mouse.move(0, 0)
  }
  for (const theme of ['light', 'dark']) {
    const desk = await w.page({ theme, width: 1200, height: 740, device: { deviceScaleFactor: 1.5 } })
    await show(desk, asks('total.go'))
    await desk.screenshot({ path: join(folder, `page-${theme}.png`) })
    const phone = await w.page({ theme, width: 390, height: 760, device: { deviceScaleFactor: 1.5, isMobile: true, hasTouch: true } })
    await show(phone, asks('git push'))
    await phone.screenshot({ path: join(folder, `phone-${theme}.png`) })
  }
} finally {
  await w.end()
  await quit()
}
