package bank_test
import ("testing";"os";"encoding/json";"fmt";"reflect";"time"
"github.com/kagewasm/kagewasm/internal/shared"
"github.com/kagewasm/kagewasm/plugins/hindsight/bank")
type conv struct{ Turns []struct{ID,Date,Speaker,Text,Caption string; Session int}; Questions []struct{Question string; Evidence []string}}
func TestZ(t *testing.T){
 r5,r10,n:=0.,0.,0.
 var all []bank.Memory
 for _,p:=range shared.Glob(t,"data","locomo","*.json"){ b,_:=os.ReadFile(p); var c conv; must(t,json.Unmarshal(b,&c))
  kv:=newKV(); bk,err:=bank.Open(kv,"b/"); must(t,err)
  var ms []bank.Memory
  for _,x:=range c.Turns { tx:=x.Speaker+` said, "`+x.Text+`"`; if x.Caption!="" {tx+=" and shared "+x.Caption}
   ms=append(ms,bank.Memory{ID:x.ID,Session:fmt.Sprint(x.Session),Author:x.Speaker,Time:x.Date,Text:tx}) }
  all=append(all,ms...)
  _,err=bk.Retain(ms); must(t,err)
  for _,q:=range c.Questions { if len(q.Evidence)==0{continue}; n++
   h,err:=bk.Recall(bank.Query{Text:q.Question,Limit:10}); must(t,err)
   for i,x:=range h { for _,e:=range q.Evidence { if e==x.ID { if i<5 {r5+=1/float64(len(q.Evidence))}; r10+=1/float64(len(q.Evidence)) }}}}
 }
 t.Log(r5/n,r10/n,n)
 var big []bank.Memory; texts:=0
 for len(big)<10000 { for _,m:=range all { m.Session=fmt.Sprint(m.Session,"-",len(big)/len(all)); m.ID=fmt.Sprint("m",len(big)); m.Time="2023-05-08T13:56:00Z"; big=append(big,m) } }
 big=big[:10000]
 for _,m:=range big{texts+=len(m.Text)}
 var want []bank.Hit
 for _,step:=range []int{10000,100,5}{
  kv:=newKV(); s:=time.Now()
  for i:=0;i<len(big);i+=step { bk,err:=bank.Open(kv,"b/"); must(t,err); n,err:=bk.Retain(big[i:i+step]); must(t,err); if n!=step {t.Log(n)} }
  t.Log("step",step,"time",time.Since(s),"sets",kv.sets,"gets",kv.gets,"wrote/texts",float64(kv.wrote)/float64(texts),"size/texts",float64(kv.size())/float64(texts),"keys",len(kv.m), texts)
  kv.gets,kv.read=0,0; s=time.Now()
  bk,err:=bank.Open(kv,"b/"); must(t,err)
  h,err:=bk.Recall(bank.Query{Text:"When did Caroline go to the LGBTQ support group with Melanie?"}); must(t,err)
  t.Log("recall",time.Since(s),"gets",kv.gets,"read",kv.read)
  if want==nil{want=h}; if !reflect.DeepEqual(h,want){t.Error("differs")}
 }
}
