package rank_test

import (
	"encoding/json"
	"fmt"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/strategies/rank"
	"os"
	"strings"
	"testing"
)

func longs(tb testing.TB) (l []string) {
	for _, p := range shared.Glob(tb, "data", "longmemeval", "*.json") {
		b, _ := os.ReadFile(p)
		var c struct{ Turns []struct{ Text string } }
		if err := json.Unmarshal(b, &c); err != nil {
			tb.Fatal(err)
		}
		for _, t := range c.Turns {
			if n := len(t.Text); n > 1000 && n < 6000 {
				l = append(l, t.Text)
			}
		}
	}
	return
}
func other(c *conversation, s string) string {
	for _, t := range c.Turns {
		if t.Speaker != s {
			return t.Speaker
		}
	}
	return "x"
}
func otherReplies(c conversation) conversation {
	turns := c.Turns
	o := conversation{Questions: c.Questions}
	for i, t := range turns {
		o.Turns = append(o.Turns, t)
		t2 := t
		t2.ID = ""
		t2.Speaker = other(&c, t.Speaker)
		t2.Caption = ""
		t2.Text = []string{"ok thanks", "yes sure", "oh wow", "Nice one", "haha true", "got it"}[i%6]
		o.Turns = append(o.Turns, t2)
	}
	return o
}
func between(c conversation, l []string, every int) conversation {
	o := conversation{Questions: c.Questions}
	for i, t := range c.Turns {
		o.Turns = append(o.Turns, t)
		if i%every == every-1 {
			t2 := t
			t2.ID = ""
			t2.Speaker = "assistant"
			t2.Caption = ""
			t2.Text = l[(i*7)%len(l)]
			o.Turns = append(o.Turns, t2)
		}
	}
	return o
}
func embed(c conversation, l []string, every int) conversation {
	o := conversation{Questions: c.Questions}
	for i, t := range c.Turns {
		if i%every == every-1 {
			a, b := l[(i*7)%len(l)], l[(i*11+3)%len(l)]
			t.Text = a[:len(a)/2] + "\n\n" + t.Text + "\n\n" + strings.ToValidUTF8(b[:len(b)/3], "")
		}
		o.Turns = append(o.Turns, t)
	}
	return o
}
func TestZ(t *testing.T) {
	base := conversations(t)
	l := longs(t)
	v := func(f func(c conversation) conversation) (o []conversation) {
		for _, c := range base {
			o = append(o, f(c))
		}
		return
	}

	for _, k := range []func(){


func(){},
	} {
	k(); 
	for _,x:=range []struct{n string; l []conversation}{
		{"base",base},{"replies",v(otherReplies)},
		{"long/3",v(func(c conversation) conversation{return between(c,l,3)})},
		{"long/1",v(func(c conversation) conversation{return between(c,l,1)})},
		{"emb/4",v(func(c conversation) conversation{return embed(c,l,4)})},
		{"emb/2",v(func(c conversation) conversation{return embed(c,l,2)})},
	} {
		r:=recalls(x.l, rank.Conversation())
		b:=recallWithin(x.l, rank.Conversation(), .12)
		fmt.Printf("  %s %.3f %.3f %.3f |", x.n, r[0],r[1], b)
	}
	fmt.Println()
	}
}
